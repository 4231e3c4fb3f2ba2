import Foundation

/// A folder that app and extension share: an index, and one file of bytes for each card.
struct SharedCards {
    struct Index: Codable {
        var backEnd: String
        var token: String
        var cardIDs: [String]
    }

    let folder: URL
    private var indexFile: URL { folder.appendingPathComponent("index.json") }
    private func inputFile(_ cardID: String) -> URL { folder.appendingPathComponent(cardID + ".sdkinput") }

    func index() -> Index? {
        guard let data = FileManager.default.contents(atPath: indexFile.path) else { return nil }
        return try? JSONDecoder().decode(Index.self, from: data)
    }

    func sdkInput(_ cardID: String) -> Data? {
        guard let data = FileManager.default.contents(atPath: inputFile(cardID).path), !data.isEmpty else { return nil }
        return data
    }

    func save(_ sdkInput: Data, cardID: String, backEnd: URL, token: String) {
        do {
            try sdkInput.write(to: inputFile(cardID), options: .atomic)
            var cardIDs = index()?.cardIDs ?? []
            if !cardIDs.contains(cardID) { cardIDs.append(cardID) }
            let index = Index(backEnd: backEnd.absoluteString, token: token, cardIDs: cardIDs)
            try JSONEncoder().encode(index).write(to: indexFile, options: .atomic)
        } catch {
            NSLog("The card could not be saved for the wallet.")
        }
    }

    func removeAll() {
        for cardID in index()?.cardIDs ?? [] { try? FileManager.default.removeItem(at: inputFile(cardID)) }
        try? FileManager.default.removeItem(at: indexFile)
    }
}
