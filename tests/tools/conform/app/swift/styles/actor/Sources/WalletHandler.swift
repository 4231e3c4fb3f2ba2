import Foundation
import Provisioning

/// The issuer-provisioning extension. It has nothing but the vault.
final class WalletHandler: IssuerProvisioningExtensionHandler {
    private let vault: CardVault
    private let isOnPhone: @Sendable (String) -> Bool
    private let isOnWatch: @Sendable (String) -> Bool

    init(
        vault: CardVault, isOnPhone: @escaping @Sendable (String) -> Bool, isOnWatch: @escaping @Sendable (String) -> Bool
    ) {
        self.vault = vault
        self.isOnPhone = isOnPhone
        self.isOnWatch = isOnWatch
    }

    override func status() async -> ExtensionStatus {
        guard let saved = await vault.contents(), let service = service(of: saved.cards) else {
            return ExtensionProvisioningService.entriesUnavailableExtensionStatus
        }
        return service.extensionStatus(requiresAuthentication: true)
    }

    override func passEntries() async -> [PassEntry] {
        guard let (service, agent) = await refreshed(without: isOnPhone) else { return [] }
        return service.passEntries(withDelegate: agent)
    }

    override func remotePassEntries() async -> [PassEntry] {
        guard let (service, agent) = await refreshed(without: isOnWatch) else { return [] }
        return service.remotePassEntries(withDelegate: agent)
    }

    override func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        _ identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data
    ) async -> AddPaymentPassRequest? {
        guard let (service, agent) = await refreshed(without: { $0 != identifier }) else { return nil }
        return try? await service.generateAddPaymentPassRequestForPassEntryWithIdentifier(
            identifier: identifier, configuration: configuration, certificateChain: certificateChain,
            nonce: nonce, nonceSignature: nonceSignature, delegate: agent)
    }

    /// A service of fresh data; what the back end does not give is as the app saved it.
    private func refreshed(
        without isLeftOut: @Sendable (String) -> Bool
    ) async -> (ExtensionProvisioningService, WalletAgent)? {
        guard let saved = await vault.contents() else { return nil }
        let wanted = saved.cards.filter { !isLeftOut($0.id) }
        let api = BankAPI(address: saved.backEnd, token: saved.token)
        let answers = await withTaskGroup(of: (String, Result<Data, Error>).self) { group in
            for card in wanted {
                group.addTask {
                    do {
                        return (card.id, .success(try await api.activationData(for: card.id)))
                    } catch {
                        return (card.id, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [String: Result<Data, Error>]()) { $0[$1.0] = $1.1 }
        }
        for case .failure(BankAPI.Failure.signedOut) in answers.values {
            await vault.empty()
            return nil
        }
        let cards = wanted.map { CardVault.Card(id: $0.id, sdkInput: (try? answers[$0.id]?.get()) ?? $0.sdkInput) }
        guard let service = service(of: cards) else { return nil }
        return (service, WalletAgent(api: api))
    }

    /// Of all cards, or of those that the SDK takes.
    private func service(of cards: [CardVault.Card]) -> ExtensionProvisioningService? {
        let all = cards.map(\.sdkInput)
        if let service = try? ExtensionProvisioningService(sdkInputs: all) { return service }
        let usable = all.filter { (try? ExtensionProvisioningService(sdkInput: $0)) != nil }
        return try? ExtensionProvisioningService(sdkInputs: usable)
    }
}

/// The SDK's delegate in the extension.
final class WalletAgent: ExtensionProvisioningDelegate, Sendable {
    private let api: BankAPI

    init(api: BankAPI) { self.api = api }

    func cardArt(paymentInstrumentId: String) -> CGImage { Workbook.picture(named: paymentInstrumentId) }

    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data? {
        try? await api.exchange(sdkOutput, for: paymentInstrumentId)
    }
}
