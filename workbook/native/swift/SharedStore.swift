import Foundation
import Security

/// What the app saves for its extension, which is another process (X-CACHE-1): one item of a keychain that both read.
///
/// The app saves it after each of its own GETs: when it starts, and when a card's page opens. It saves the new list when
/// a card comes or goes, and calls `delete()` when the cardholder signs out. The API key is never in it.
struct SharedStore: Codable, Sendable {
    struct Card: Codable, Sendable {
        let id: String  // the payment instrument id
        let artName: String  // the picture's name in the extension's assets
        let sdkInput: Data  // of the app's latest GET
    }

    struct Failure: Error { let status: OSStatus }

    let backEnd: URL  // your own back end
    let token: String  // of this cardholder, good for the two calls of your back end and for nothing else
    let cards: [Card]

    /// What was saved; nil when the app was never opened, after signing out, and before the phone was first unlocked.
    static func read() -> SharedStore? {
        var query = item
        query[kSecReturnData] = true
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data else {
            return nil
        }
        return try? JSONDecoder().decode(SharedStore.self, from: data)
    }

    func save() throws {
        let data = try JSONEncoder().encode(self)
        Self.delete()
        var new = Self.item
        new[kSecValueData] = data
        new[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        let status = SecItemAdd(new as CFDictionary, nil)
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    static func delete() {
        SecItemDelete(item as CFDictionary)
    }

    private static let item: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword,
        kSecAttrService: "card-provisioning",
        kSecAttrAccount: "shared",
        kSecAttrAccessGroup: "TEAMID.com.your-bank.shared",  // in the entitlements of the app and both extensions
    ]
}
