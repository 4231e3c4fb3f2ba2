import Foundation

/// What the extension needs to know of one card.
struct CardFile: Codable {
    var card: String
    var sdkInput: Data
    var backEnd: String
    var token: String
}

/// The values of an app group, a JSON text for each card.
final class CardValues: @unchecked Sendable {
    private let lock = NSLock()
    private let values: UserDefaults?

    init(_ suite: String) { values = UserDefaults(suiteName: suite) }

    private func key(_ card: String) -> String { "card.\(card)" }

    func write(_ content: CardFile) throws {
        lock.lock()
        defer { lock.unlock() }
        values?.set(try JSONEncoder().encode(content), forKey: key(content.card))
    }

    /// Those that can be read, in the order of their names.
    func all() -> [CardFile] {
        lock.lock()
        defer { lock.unlock() }
        let keys = (values?.dictionaryRepresentation() ?? [:]).keys.filter { $0.hasPrefix("card.") }
        return keys.sorted().compactMap { key in
            values?.data(forKey: key).flatMap { try? JSONDecoder().decode(CardFile.self, from: $0) }
        }
    }

    func delete(_ card: String) { values?.removeObject(forKey: key(card)) }

    func deleteAll() { for saved in all() { delete(saved.card) } }
}
