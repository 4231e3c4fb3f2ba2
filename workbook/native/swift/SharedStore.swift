import Foundation
import Security

/// What the app saves for its extension, which is another process (X-CACHE-1): one item of a keychain that both read.
///
/// The app saves it after each of its own GETs, and when a card comes or goes. It calls `delete()` at sign-out, and once
/// after each installation: the item outlives the app.
struct SharedStore: Codable, Sendable {
    struct Card: Codable, Sendable {
        let id: String  // the payment instrument id
        let artName: String  // in the extension's assets
        let sdkInput: Data  // of the app's latest GET
    }

    struct Failure: Error { let status: OSStatus }

    let backEnd: URL
    /// Of this cardholder, for your back end's two calls only. Your back end issues it to the app at sign-in, for longer
    /// than the app's own session (the wallet may ask weeks after the app was open), and takes it back at sign-out.
    let token: String
    let cards: [Card]

    /// What was saved; nil when the app was never opened, after signing out, and before the phone was first unlocked.
    static func read() -> SharedStore? {
        var found: CFTypeRef?
        guard SecItemCopyMatching(item([kSecReturnData: true]), &found) == errSecSuccess, let data = found as? Data
        else { return nil }
        return try? JSONDecoder().decode(SharedStore.self, from: data)
    }

    /// In one step: the extension finds the old list or the new one.
    func save() throws {
        let new: [CFString: Any] = [
            kSecValueData: try JSONEncoder().encode(self),
            kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(Self.item(), new as CFDictionary)
        if status == errSecItemNotFound { status = SecItemAdd(Self.item(new), nil) }
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    static func delete() { SecItemDelete(item()) }

    private static func item(_ more: [CFString: Any] = [:]) -> CFDictionary {
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: "card-provisioning",
            kSecAttrAccount: "shared",
            kSecAttrAccessGroup: "TEAMID.com.your-bank.shared",  // in the entitlements of app and extension
        ]
        return item.merging(more) { $1 } as CFDictionary
    }
}
