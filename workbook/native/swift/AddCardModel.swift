import Combine
import Foundation

/// One card's page on platform B, later variant. Keep it as long as the page is open.
@MainActor
final class AddCardModel: ObservableObject {
    enum Button { case absent, shown, disabled, hidden }

    @Published private(set) var button = Button.absent
    @Published private(set) var message = ""
    @Published private(set) var canTryAgain = false  // the page also has a button *Try again*, which calls `opened`

    struct App: Sendable {
        let backEnd: BackEnd
        let watch: WatchAvailability  // the one instance of the app (B-WATCH-2)
        let save: @Sendable (Data, String) -> Void  // for the extension (X-CACHE-1)
        let isInWallet: @Sendable (String) -> Bool  // asks the platform
        let log: @Sendable (String) -> Void
    }

    private let cardId: String
    private let app: App
    private var service: ProvisioningService?
    private var isAsking = false

    init(cardId: String, app: App) { (self.cardId, self.app) = (cardId, app) }

    /// Call it each time the page opens (a card may have come or gone), and at *Try again*.
    func opened() async {
        guard button != .disabled, !isAsking else { return }  // an attempt runs, or this does
        isAsking = true
        defer { isAsking = false }
        (button, message, canTryAgain) = (.absent, "", false)
        do {
            let sdkInput = try await app.backEnd.activationData(for: cardId)
            app.save(sdkInput, cardId)
            service = try ProvisioningService(sdkInput: sdkInput)
            await ask()
            if button == .hidden, app.isInWallet(cardId) { message = "Available in Wallet" }
        } catch {
            app.log("no provisioning service: \(type(of: error))")
            button = .hidden
            // without the GET there is no button to tap: a page that said nothing would leave no way to retry (ours)
            switch error as? BackEndFailure {
            case .signIn: message = "Sign in again."
            case .tryLater: (message, canTryAgain) = ("The card cannot be added now. Try again later.", true)
            case .noSuchCard, nil: break
            }
        }
    }

    func addTapped(on page: PresentingViewController) {
        guard button == .shown, let service else { return }  // a second tap
        button = .disabled
        do {
            try service.start(delegate: self, presentingViewController: page)
        } catch {  // nothing has begun
            app.log("start threw \(type(of: error))")
            (button, message) = (.shown, "Not added")
        }
    }

    private func ask() async {
        let isWatchActivated = await app.watch.activate()
        let canAdd = service?.canAddCardDetails(isWatchActivated: isWatchActivated).canAddCard ?? false
        button = canAdd ? .shown : .hidden
    }
}

extension AddCardModel: ProvisioningDelegate {
    nonisolated func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data? {
        guard paymentInstrumentId == cardId else {
            app.log("the SDK asks for another card than this page's")
            return nil
        }
        do {
            return try await app.backEnd.provision(paymentInstrumentId, sdkOutput: sdkOutput)
        } catch {
            app.log("no sdkInput: \(error)")  // a reason, no value
            return nil  // B-DEL-3
        }
    }

    nonisolated func didFinishProvisioning(with pass: PaymentPass?, error: Error?) {
        let added = pass != nil
        var cancelled = false
        if case .userCancelled? = error as? ProvisioningError { cancelled = true }
        if !added { app.log("not added: \(error.map { "\(type(of: $0))" } ?? "no error")") }
        Task { @MainActor [cancelled] in
            message = cancelled ? "" : added ? "Added to Wallet" : "Not added"  // a cancel is no failure
            await ask()  // canAddCard decides about the button, as at opening
        }
    }
}
