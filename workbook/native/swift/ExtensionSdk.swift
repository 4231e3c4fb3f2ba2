// What the interface document shows of platform B's extension flow (later variant), so that the other files compile
// without the SDK. Do not copy this file: the platform and the SDK bring these names. The document
// shows ExtensionProvisioningService, its operations and the names of the handler's methods. The names of the
// platform's types and protocols are inferred, and so is that the initializers throw. PassLibrary and LogIn are yours.
// We assume that the authorization protocol is @MainActor; if not, Swift 6 needs `@preconcurrency` before its name.
import UIKit

public class ExtensionStatus {}
public class PassEntry {}
public class AddPaymentPassRequest {}
public class AddPaymentPassRequestConfiguration {}
public enum AuthorizationResult { case authorized, canceled }

public protocol ExtensionProvisioningDelegate: AnyObject {
    func cardArt(paymentInstrumentId: String) -> UIImage
    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data?
}

public class ExtensionProvisioningService {
    public static var entriesUnavailableExtensionStatus: ExtensionStatus { ExtensionStatus() }
    public init(sdkInput: Data) throws { fatalError("The SDK brings it.") }
    public init(sdkInputs: [Data]) throws { fatalError("The SDK brings it.") }
    public func extensionStatus(requiresAuthentication: Bool) -> ExtensionStatus { ExtensionStatus() }
    public func passEntries(withDelegate: ExtensionProvisioningDelegate) -> [PassEntry] { [] }
    public func remotePassEntries(withDelegate: ExtensionProvisioningDelegate) -> [PassEntry] { [] }
    public func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data, delegate: ExtensionProvisioningDelegate
    ) async throws -> AddPaymentPassRequest? { nil }
}

open class IssuerProvisioningExtensionHandler {
    public init() {}
    open func status() async -> ExtensionStatus { ExtensionStatus() }
    open func passEntries() async -> [PassEntry] { [] }
    open func remotePassEntries() async -> [PassEntry] { [] }
    open func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        _ identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data
    ) async -> AddPaymentPassRequest? { nil }
}

@MainActor
public protocol IssuerProvisioningAuthorization: AnyObject {
    var completionHandler: ((AuthorizationResult) -> Void)? { get set }
}

/// Yours: ask the platform which passes are there, and match them with your cards.
public enum PassLibrary {
    public static func isOnPhone(_ id: String) -> Bool { false }
    public static func isOnWatch(_ id: String) -> Bool { false }
}

/// Yours: the log-in of your app; false when the cardholder cancels.
@MainActor
public enum LogIn {
    public static func ask(on page: UIViewController) async -> Bool { false }
}
