import Combine
import Foundation

/// One card's page on platform B, later variant. Keep it as long as the page is open.
@MainActor
final class AddCardModel: ObservableObject {
    enum Button { case absent, shown, disabled, hidden }

    @Published private(set) var button = Button.absent
    @Published private(set) var message = ""

    private let cardId: String
    private let backEnd: BackEnd
    private let watch: WatchAvailability  // the one instance of the app (B-WATCH-2)
    private let save: (Data, String) -> Void  // into the storage that the extension reads (X-CACHE-1)
    private let log: (String) -> Void
    private var service: ProvisioningService?

    init(
        cardId: String, backEnd: BackEnd, watch: WatchAvailability, save: @escaping (Data, String) -> Void,
        log: @escaping (String) -> Void
    ) {
        (self.cardId, self.backEnd, self.watch, self.save, self.log) = (cardId, backEnd, watch, save, log)
    }

    /// Call it each time the page opens: a card may have been added or removed meanwhile.
    func opened() async {
        guard button != .disabled else { return }  // an attempt is running
        (button, message) = (.absent, "")
        do {
            let sdkInput = try await backEnd.activationData(for: cardId)
            save(sdkInput, cardId)
            service = try ProvisioningService(sdkInput: sdkInput)
            await ask()
            if button == .hidden { message = "Available in Wallet" }
        } catch {
            log("no provisioning service: \(type(of: error))")
            button = .hidden
        }
    }

    func addTapped(on page: PresentingViewController) {
        guard button == .shown, let service else { return }  // a second tap
        button = .disabled
        do {
            try service.start(delegate: self, presentingViewController: page)
        } catch {  // nothing has begun, so didFinishProvisioning will not come
            log("start threw \(type(of: error))")
            (button, message) = (.shown, "Not added")
        }
    }

    private func ask() async {
        let isWatchActivated = await watch.activate()
        let canAdd = service?.canAddCardDetails(isWatchActivated: isWatchActivated).canAddCard ?? false
        button = canAdd ? .shown : .hidden
    }

    private func finished(added: Bool, error: String) async {
        message = added ? "Added to Wallet" : "Not added"  // a cancellation is no error: no alert
        if !added { log("not added: \(error)") }
        await ask()  // the watch may still lack the card
    }
}

extension AddCardModel: ProvisioningDelegate {
    nonisolated func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data? {
        do {
            return try await backEnd.provision(paymentInstrumentId, sdkOutput: sdkOutput)
        } catch {
            await log("no sdkInput: \(error)")  // a BackEndFailure: a reason, no value
            return nil  // B-DEL-3
        }
    }

    nonisolated func didFinishProvisioning(with pass: PaymentPass?, error: Error?) {
        let (added, kind) = (pass != nil, error.map { "\(type(of: $0))" } ?? "no error")
        Task { await finished(added: added, error: kind) }
    }
}
