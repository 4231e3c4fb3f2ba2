// As much of the platform's keychain as SharedStore needs: one item, in the file that KEYCHAIN names.
import Foundation

public typealias CFTypeRef = Any
public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias OSStatus = Int32

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300
public let kSecValueData = "data"
public let kSecReturnData = "return"
public let kSecClass = "class"
public let kSecClassGenericPassword = "generic"
public let kSecAttrService = "service"
public let kSecAttrAccount = "account"
public let kSecAttrAccessGroup = "group"
public let kSecAttrAccessible = "accessible"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "after first unlock"

private var file: URL { URL(fileURLWithPath: ProcessInfo.processInfo.environment["KEYCHAIN"] ?? "keychain") }

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>) -> OSStatus {
    guard let data = try? Data(contentsOf: file) else { return errSecItemNotFound }
    result.pointee = data
    return errSecSuccess
}

public func SecItemAdd(_ item: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    guard let data = item[kSecValueData] as? Data, (try? data.write(to: file)) != nil else { return -1 }
    return errSecSuccess
}

public func SecItemUpdate(_ query: CFDictionary, _ item: CFDictionary) -> OSStatus {
    FileManager.default.fileExists(atPath: file.path) ? SecItemAdd(item, nil) : errSecItemNotFound
}

@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    (try? FileManager.default.removeItem(at: file)) == nil ? errSecItemNotFound : errSecSuccess
}
