// What app and extension share, kept in the way that WAY names.
import Foundation
import OperatorSDK
import Security

struct Saved: Codable, Sendable {
    var backEnd: URL
    var token: String
    var cards: [String: Data] = [:]
}

let way = ProcessInfo.processInfo.environment["WAY"] ?? ""

/// Some ways read elsewhere than they write. The app, which writes, reads where it writes.
enum Vault {
    static func save(_ saved: Saved) {
        switch way {
        case "nothing": break
        case "defaults", "defaults of its own":
            let values = way == "defaults" ? UserDefaults(suiteName: "group.bank") : UserDefaults.standard
            values?.set(saved.token, forKey: "token")
            values?.set(saved.backEnd, forKey: "address")
            values?.set(saved.cards, forKey: "cards")
        case "container", "another container": try? JSONEncoder().encode(saved).write(to: file(writes: true), options: .atomic)
        default:
            put("token", Data(saved.token.utf8))
            put("address", Data(saved.backEnd.absoluteString.utf8))
            for (id, sdkInput) in saved.cards { put("card \(id)", sdkInput) }
        }
    }

    static func read(writes: Bool = false) -> Saved? {
        switch way {
        case "defaults", "defaults of its own":
            let values = way == "defaults" ? UserDefaults(suiteName: "group.bank") : UserDefaults.standard
            guard let token = values?.string(forKey: "token"), let address = values?.url(forKey: "address") else { return nil }
            return Saved(
                backEnd: address, token: token, cards: values?.dictionary(forKey: "cards") as? [String: Data] ?? [:])
        case "container", "another container":
            return (try? Data(contentsOf: file(writes: writes))).flatMap { try? JSONDecoder().decode(Saved.self, from: $0) }
        default:
            let items = all(writes: writes)
            guard let token = items["token"], let address = items["address"],
                let backEnd = URL(string: String(decoding: address, as: UTF8.self))
            else { return nil }
            var saved = Saved(backEnd: backEnd, token: String(decoding: token, as: UTF8.self))
            for (name, data) in items where name.hasPrefix("card ") { saved.cards[String(name.dropFirst(5))] = data }
            return saved
        }
    }

    private static func file(writes: Bool) -> URL {
        let group = way == "another container" && !writes ? "group.other" : "group.bank"
        let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
        return (folder ?? Workbook.sharedFolder).appendingPathComponent("cards.json")
    }

    /// An item for each card, one for the token, and one for the address.
    private static func item(_ account: String?, writes: Bool) -> [String: Any] {
        var item: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
        item[kSecAttrService as String] = way == "another service" && !writes ? "other" : "cards"
        item[kSecAttrAccount as String] = account
        let named = way == "another group" && !writes ? "TEAM.G2" : "TEAM.G1"
        if way != "no group", way != "items, read without a group" || writes { item[kSecAttrAccessGroup as String] = named }
        return item
    }

    private static func put(_ account: String, _ data: Data) {
        var item = item(account, writes: true)
        let status = SecItemUpdate(item as CFDictionary, [kSecValueData as String: data] as CFDictionary)
        guard status == errSecItemNotFound else { return }
        item[kSecValueData as String] = data
        item[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
        SecItemAdd(item as CFDictionary, nil)
    }

    private static func all(writes: Bool) -> [String: Data] {
        var query = item(nil, writes: writes)
        query[kSecReturnAttributes as String] = true
        query[kSecReturnData as String] = kCFBooleanTrue!
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        var found: AnyObject?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return [:] }
        let items = found as? [[String: Any]] ?? []
        return items.reduce(into: [:]) { all, item in
            if let account = item[kSecAttrAccount as String] as? String { all[account] = item[kSecValueData as String] as? Data }
        }
    }
}
