import Foundation
import Provisioning

/// The SDK's delegate, made of closures.
final class WalletDelegate: ProvisioningDelegate {
    let onOutput: (Data, String, @escaping (Data?) -> Void) -> Void
    let onEnd: (PaymentPass?, Error?) -> Void

    init(onOutput: @escaping (Data, String, @escaping (Data?) -> Void) -> Void, onEnd: @escaping (PaymentPass?, Error?) -> Void) {
        self.onOutput = onOutput
        self.onEnd = onEnd
    }

    func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data? {
        await withCheckedContinuation { waiting in
            onOutput(sdkOutput, paymentInstrumentId) { waiting.resume(returning: $0) }
        }
    }

    func didFinishProvisioning(with pass: PaymentPass?, error: Error?) { onEnd(pass, error) }
}

/// The page's logic. May be called from any thread: a lock guards what it shows.
final class AddToWallet: @unchecked Sendable {
    enum Button { case loading, ready, retry, busy, none }

    struct View {
        var button = Button.loading
        var note = ""
    }

    private let card: String
    private let client: BackEndClient
    private let files: CardValues
    private let isInWallet: (String) -> Bool
    private let work = DispatchQueue(label: "add-to-wallet", qos: .userInitiated)

    private let lock = NSLock()
    private var current = View()
    private var service: ProvisioningService?
    private var delegate: WalletDelegate?

    init(card: String, client: BackEndClient, files: CardValues, isInWallet: @escaping (String) -> Bool) {
        self.card = card
        self.client = client
        self.files = files
        self.isInWallet = isInWallet
    }

    var view: View {
        lock.lock()
        defer { lock.unlock() }
        return current
    }

    private func show(_ button: Button, _ note: String = "") {
        lock.lock()
        defer { lock.unlock() }
        current = View(button: button, note: note)
    }

    func load() {
        show(.loading)
        work.async { self.fetch() }
    }

    private func fetch() {
        do {
            let sdkInput = try client.get(card)
            try? files.write(CardFile(card: card, sdkInput: sdkInput, backEnd: client.root, token: client.token))
            guard let service = try? ProvisioningService(sdkInput: sdkInput) else { return show(.none) }
            lock.lock()
            self.service = service
            lock.unlock()
            refresh(note: "", otherwise: isInWallet(card) ? "Available in Wallet" : "")
        } catch BackEndClient.Problem.signIn {
            files.deleteAll()
            show(.none, "Sign in again")
        } catch BackEndClient.Problem.gone {
            files.delete(card)
            show(.none)
        } catch BackEndClient.Problem.forbidden {
            show(.none)
        } catch {
            show(.retry, "The card cannot be added now. Try again later.")
        }
    }

    /// The button as the SDK says.
    private func refresh(note: String, otherwise: String) {
        lock.lock()
        let service = service
        lock.unlock()
        Task {
            let isWatchActivated = await WatchAvailability.activate()
            let canAdd = service?.canAddCardDetails(isWatchActivated: isWatchActivated).canAddCard ?? false
            show(canAdd ? .ready : .none, canAdd ? note : otherwise)
        }
    }

    /// The tap: Add, or Try again.
    func tapped(presenting controller: UIViewController) {
        lock.lock()
        let (button, service) = (current.button, service)
        if button == .ready { current = View(button: .busy) }
        lock.unlock()
        switch button {
        case .ready: begin(service, controller)
        case .retry: load()
        case .loading, .busy, .none: break
        }
    }

    private func begin(_ service: ProvisioningService?, _ controller: UIViewController) {
        let delegate = WalletDelegate(
            onOutput: { [card, client, work] sdkOutput, id, answer in
                work.async {
                    guard id == card else { return answer(nil) }
                    do {
                        answer(try client.post(id, sdkOutput))
                    } catch {
                        print("wallet: the exchange failed (\(error))")
                        answer(nil)
                    }
                }
            },
            onEnd: { [self] pass, error in ended(pass, error) })
        self.delegate = delegate
        do {
            try service?.start(delegate: delegate, presentingViewController: controller)
        } catch {
            print("wallet: no attempt has begun")
            show(.ready, "Not added")
        }
    }

    private func ended(_ pass: PaymentPass?, _ error: Error?) {
        let note: String
        if let error = error as? ProvisioningServiceError {
            if case .userCancelled = error { note = "You can add the card at any time." } else { note = "Not added" }
        } else {
            note = pass == nil ? "Not added" : "Added to Wallet"
        }
        refresh(note: note, otherwise: note)
    }
}
