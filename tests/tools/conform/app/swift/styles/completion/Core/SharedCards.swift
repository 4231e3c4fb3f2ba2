import Foundation
import Security

/// What app and extension share: three accounts of a keychain service, and one more for each card.
struct SharedCards {
    struct Index: Codable {
        var backEnd: String
        var token: String
        var cardIDs: [String]
    }

    let group: String

    func index() -> Index? {
        guard let backEnd = text("backEnd"), let token = text("token"), let list = text("cards") else { return nil }
        return Index(backEnd: backEnd, token: token, cardIDs: list.split(separator: " ").map(String.init))
    }

    func sdkInput(_ cardID: String) -> Data? { read("card " + cardID) }

    func save(_ sdkInput: Data, cardID: String, backEnd: URL, token: String) {
        var cardIDs = index()?.cardIDs ?? []
        if !cardIDs.contains(cardID) { cardIDs.append(cardID) }
        let texts = ["backEnd": backEnd.absoluteString, "token": token, "cards": cardIDs.joined(separator: " ")]
        let written = write(sdkInput, "card " + cardID) && texts.allSatisfy { write(Data($1.utf8), $0) }
        if !written { NSLog("The card could not be saved for the wallet.") }
    }

    func removeAll() {
        for account in ["cards", "token", "backEnd"] + (index()?.cardIDs ?? []).map({ "card " + $0 }) {
            SecItemDelete(query(account) as CFDictionary)
        }
    }

    private func text(_ account: String) -> String? { read(account).flatMap { String(data: $0, encoding: .utf8) } }

    private func read(_ account: String) -> Data? {
        var found: CFTypeRef?
        let one = query(account).merging([kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne]) { $1 }
        return SecItemCopyMatching(one as CFDictionary, &found) == errSecSuccess ? found as? Data : nil
    }

    /// Deletes an older item, and adds the new one.
    private func write(_ data: Data, _ account: String) -> Bool {
        SecItemDelete(query(account) as CFDictionary)
        let new = query(account).merging([
            kSecValueData as String: data, kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock,
        ]) { $1 }
        return SecItemAdd(new as CFDictionary, nil) == errSecSuccess
    }

    private func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "wallet",
            kSecAttrAccount as String: account, kSecAttrAccessGroup as String: group,
        ]
    }
}
