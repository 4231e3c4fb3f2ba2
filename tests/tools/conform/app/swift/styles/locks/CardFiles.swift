import Foundation

/// What the extension needs to know of one card, in a JSON file of its own.
struct CardFile: Codable {
    var card: String
    var sdkInput: Data
    var backEnd: String
    var token: String
}

final class CardFiles: @unchecked Sendable {
    private let lock = NSLock()
    private let folder: URL

    init(_ folder: URL) { self.folder = folder.appendingPathComponent("cards", isDirectory: true) }

    private func file(_ card: String) -> URL { folder.appendingPathComponent("\(card).json") }

    func write(_ content: CardFile) throws {
        lock.lock()
        defer { lock.unlock() }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(content).write(to: file(content.card), options: .atomic)
    }

    /// Those that can be read, in the order of their names.
    func all() -> [CardFile] {
        lock.lock()
        defer { lock.unlock() }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
            guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
            return try? JSONDecoder().decode(CardFile.self, from: data)
        }
    }

    func delete(_ card: String) {
        lock.lock()
        defer { lock.unlock() }
        try? FileManager.default.removeItem(at: file(card))
    }

    func deleteAll() {
        lock.lock()
        defer { lock.unlock() }
        try? FileManager.default.removeItem(at: folder)
    }
}
