// What the interface document shows of platform B's SDK (later variant), so that the other files compile without it.
// Do not copy this file: the SDK brings these names. We infer that the initializer throws. The delegate's protocol has
// no name in the document; in the earlier variant it has the same name as in the later one, not a second one as here.
// The error and this case are public (sdk-b); it has more cases. We assume that a WatchAvailability may be used on any
// thread (Sendable). If the SDK does not say so, Swift 6 needs `@preconcurrency import`.
import Foundation

public class PaymentPass {}
public class PresentingViewController {}

public enum ProvisioningError: Error { case userCancelled }

public struct AddCardState { public let canAddCard: Bool }

public protocol ProvisioningDelegate: AnyObject {
    func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data?
    func didFinishProvisioning(with pass: PaymentPass?, error: Error?)
}

/// The earlier variant's: no payment instrument id (B-DEL-1).
public protocol EarlierProvisioningDelegate: AnyObject {
    func provision(sdkOutput: Data) async -> Data?
    func didFinishProvisioning(with pass: PaymentPass?, error: Error?)
}

public class ProvisioningService {
    public init(sdkInput: Data) throws { fatalError("The SDK brings it.") }
    public func canAddCardDetails(isWatchActivated: Bool) -> AddCardState { fatalError("The SDK brings it.") }
    public func start(delegate: ProvisioningDelegate, presentingViewController: PresentingViewController) throws {}
}

public final class WatchAvailability: Sendable {
    public init() {}
    public func activate() async -> Bool { fatalError("The SDK brings it.") }
}
