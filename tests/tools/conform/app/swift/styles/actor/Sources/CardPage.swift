import Foundation
import Provisioning

/// What all pages of the app share.
@MainActor
final class Bank {
    let api: BankAPI
    let vault: CardVault
    let watch = WatchAvailability()
    let isInWallet: @Sendable (String) -> Bool
    private let address: URL
    private let token: String
    /// The card whose attempt runs, if any.
    fileprivate(set) var attempt: String?

    init(address: URL, token: String, vault: CardVault, isInWallet: @escaping @Sendable (String) -> Bool) {
        api = BankAPI(address: address, token: token)
        self.vault = vault
        self.isInWallet = isInWallet
        self.address = address
        self.token = token
    }

    func save(_ sdkInput: Data, for card: String) async {
        await vault.put(CardVault.Card(id: card, sdkInput: sdkInput), backEnd: address, token: token)
    }
}

/// The page of one card.
@MainActor
final class CardPage {
    enum Button { case none, add, waiting, gone }

    private(set) var button = Button.none
    private(set) var text = ""

    private let card: String
    private let bank: Bank
    private var service: ProvisioningService?
    private var opening: Task<Void, Never>?

    init(card: String, bank: Bank) {
        self.card = card
        self.bank = bank
    }

    func open() {
        opening = Task { await load() }
    }

    func close() { opening?.cancel() }

    private func load() async {
        do {
            let sdkInput = try await bank.api.activationData(for: card)
            await bank.save(sdkInput, for: card)
            guard !Task.isCancelled else { return }
            guard let service = try? ProvisioningService(sdkInput: sdkInput) else {
                button = .gone
                return
            }
            self.service = service
            await offer()
            if button == .gone, bank.isInWallet(card) { text = "Available in Wallet" }
        } catch BankAPI.Failure.signedOut {
            await bank.vault.empty()
            (button, text) = (.gone, "Sign in again")
        } catch BankAPI.Failure.notAllowed {
            (button, text) = (.gone, "")
        } catch {
            (button, text) = (.gone, "The card cannot be added now. Try again later.")
        }
    }

    /// Shows the button where the SDK says that the card can be added.
    private func offer() async {
        guard let service else { return }
        let isWatchActivated = await bank.watch.activate()
        let details = service.canAddCardDetails(isWatchActivated: isWatchActivated)
        button = details.canAddCard ? .add : .gone
    }

    func add(on controller: UIViewController) {
        guard button == .add, bank.attempt == nil, let service else { return }
        (button, text) = (.waiting, "")
        bank.attempt = card
        let delegate = Attempt(card: card, api: bank.api) { [self] outcome in await finished(outcome) }
        do {
            try service.start(delegate: delegate, presentingViewController: controller)
        } catch {
            bank.attempt = nil
            (button, text) = (.add, "Not added")
        }
    }

    private func finished(_ outcome: Attempt.Outcome) async {
        bank.attempt = nil
        switch outcome {
        case .added: text = "Added to Wallet"
        case .cancelled: text = ""
        case .failed: text = "Not added"
        }
        await offer()
    }
}

/// One attempt: the SDK's delegate.
final class Attempt: ProvisioningDelegate, Sendable {
    enum Outcome: Sendable { case added, cancelled, failed }

    private let card: String
    private let api: BankAPI
    private let finished: @Sendable (Outcome) async -> Void

    init(card: String, api: BankAPI, finished: @escaping @Sendable (Outcome) async -> Void) {
        self.card = card
        self.api = api
        self.finished = finished
    }

    func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data? {
        guard paymentInstrumentId == card else { return nil }
        do {
            return try await api.exchange(sdkOutput, for: card)
        } catch {
            print("The card's data could not be exchanged.")
            return nil
        }
    }

    func didFinishProvisioning(with pass: PaymentPass?, error: Error?) {
        let outcome: Outcome
        if pass != nil, error == nil {
            outcome = .added
        } else if case ProvisioningServiceError.userCancelled? = error {
            outcome = .cancelled
        } else {
            outcome = .failed
        }
        Task { await finished(outcome) }
    }
}
