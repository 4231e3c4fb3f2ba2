import Foundation

/// What the app leaves for its wallet extension: one file, replaced as a whole.
actor CardVault {
    struct Card: Codable, Sendable {
        let id: String
        let sdkInput: Data
    }

    struct Contents: Codable, Sendable {
        let backEnd: URL
        let token: String
        var cards: [Card]
    }

    private let file: URL

    init(group: String) {
        let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
        file = (folder ?? FileManager.default.temporaryDirectory).appendingPathComponent("wallet-cards.plist")
    }

    func contents() -> Contents? {
        guard let bytes = try? Data(contentsOf: file) else { return nil }
        return try? PropertyListDecoder().decode(Contents.self, from: bytes)
    }

    func put(_ card: Card, backEnd: URL, token: String) {
        var all = contents() ?? Contents(backEnd: backEnd, token: token, cards: [])
        let others = all.cards.filter { $0.id != card.id }
        all = Contents(backEnd: backEnd, token: token, cards: others + [card])
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let bytes = try? encoder.encode(all) else { return }
        try? bytes.write(to: file, options: .atomic)
    }

    func empty() { try? FileManager.default.removeItem(at: file) }
}
