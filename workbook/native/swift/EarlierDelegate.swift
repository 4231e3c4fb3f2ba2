import Foundation

/// The delegate of the earlier variant, whose `provision` names no card (B-DEL-1).
///
/// So the card is that of the page whose tap called `start`: make one delegate for each attempt, hold it until the
/// attempt is over, and start no other attempt meanwhile. Before `start`, `await canAddCard()` decides about the
/// button (B-CAN-1).
final class EarlierDelegate: EarlierProvisioningDelegate, Sendable {
    private let cardId: String  // of the page's own GET, which made the service
    private let backEnd: BackEnd
    private let log: @Sendable (String) -> Void
    private let finished: @MainActor @Sendable (_ added: Bool, _ cancelled: Bool) -> Void

    init(
        cardId: String, backEnd: BackEnd, log: @escaping @Sendable (String) -> Void,
        finished: @escaping @MainActor @Sendable (_ added: Bool, _ cancelled: Bool) -> Void
    ) {
        (self.cardId, self.backEnd, self.log, self.finished) = (cardId, backEnd, log, finished)
    }

    func provision(sdkOutput: Data) async -> Data? {
        do {
            return try await backEnd.provision(cardId, sdkOutput: sdkOutput)
        } catch {
            log("no sdkInput: \(error)")  // a reason, no value
            return nil  // B-DEL-3
        }
    }

    func didFinishProvisioning(with pass: PaymentPass?, error: Error?) {
        let added = pass != nil
        var cancelled = false
        if case .userCancelled? = error as? ProvisioningError { cancelled = true }
        Task { @MainActor [cancelled] in
            finished(added, cancelled)  // the page says what happened, and asks canAddCard() about its button
        }
    }
}
