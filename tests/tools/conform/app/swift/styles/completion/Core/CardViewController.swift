import Foundation
import Provisioning

/// Main thread only, as every view controller. It is its own delegate for the SDK.
final class CardViewController: UIViewController, ProvisioningDelegate {
    struct Environment {
        let client: HTTPClient
        let shared: SharedCards
        let token: String
        let watch: WatchAvailability
        let isInWallet: (String) -> Bool
    }

    enum ButtonState { case notThere, enabled, disabled, hidden }

    private(set) var buttonState = ButtonState.notThere
    private(set) var label: String?

    private let cardID: String
    private let environment: Environment
    private var service: ProvisioningService?

    init(cardID: String, environment: Environment) {
        self.cardID = cardID
        self.environment = environment
        super.init()
    }

    func viewDidAppear() {
        environment.client.getActivationData(cardID: cardID) { [weak self] result in
            DispatchQueue.main.async { self?.received(result) }
        }
    }

    private func received(_ result: Result<Data, HTTPClientError>) {
        switch result {
        case .success(let sdkInput):
            environment.shared.save(
                sdkInput, cardID: cardID, backEnd: environment.client.baseURL, token: environment.token)
            do {
                service = try ProvisioningService(sdkInput: sdkInput)
            } catch {
                return show(.hidden, nil)
            }
            askWhetherAddable { [weak self] canAdd in
                guard let self else { return }
                if canAdd { return show(.enabled, nil) }
                show(.hidden, environment.isInWallet(cardID) ? "Available in Wallet" : nil)
            }
        case .failure(.status(401)):
            environment.shared.removeAll()
            show(.hidden, "Sign in again")
        case .failure(.status(403)), .failure(.status(404)):
            show(.hidden, nil)
        case .failure:
            show(.hidden, "The card cannot be added now. Please open this page again later.")
        }
    }

    private func askWhetherAddable(_ completion: @escaping (Bool) -> Void) {
        let (watch, service) = (environment.watch, service)
        Task {
            let isWatchActivated = await watch.activate()
            let details = service?.canAddCardDetails(isWatchActivated: isWatchActivated)
            DispatchQueue.main.async { completion(details?.canAddCard ?? false) }
        }
    }

    private func show(_ state: ButtonState, _ text: String?) {
        buttonState = state
        label = text
    }

    func addToWalletTapped() {
        guard buttonState == .enabled, let service else { return }
        show(.disabled, nil)
        do {
            try service.start(delegate: self, presentingViewController: self)
        } catch {
            show(.enabled, "Not added")
        }
    }

    // MARK: ProvisioningDelegate

    func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data? {
        guard paymentInstrumentId == cardID else { return nil }
        return await withCheckedContinuation { continuation in
            environment.client.postProvision(cardID: paymentInstrumentId, sdkOutput: sdkOutput) { result in
                switch result {
                case .success(let sdkInput): continuation.resume(returning: sdkInput)
                case .failure(let error):
                    NSLog("Provisioning has no sdkInput: %@", "\(error)")
                    continuation.resume(returning: nil)
                }
            }
        }
    }

    func didFinishProvisioning(with pass: PaymentPass?, error: Error?) {
        let text: String?
        switch (pass, error as? ProvisioningServiceError) {
        case (_, .userCancelled): text = nil
        case (.some, nil): text = "Added to Wallet"
        default: text = "Not added"
        }
        askWhetherAddable { [weak self] canAdd in self?.show(canAdd ? .enabled : .hidden, text) }
    }
}
