import UIKit

/// The extension that the wallet calls, later variant. It also is the SDK's delegate.
///
/// The wallet makes a new handler for every call (X-HANDLER-1): each reads what the app saved, and makes the service.
final class ExtensionHandler: IssuerProvisioningExtensionHandler {
    private let saved = SharedStore.read()
    private var backEnd: BackEnd? {
        saved.map { saved in BackEnd(address: saved.backEnd, sessionToken: { saved.token }) }
    }
    /// Those with a picture: the wallet cannot show the others.
    private var cards: [SharedStore.Card] { (saved?.cards ?? []).filter { UIImage(named: $0.artName) != nil } }

    /// Limit: 100 ms. Only what was saved, no network (X-STATUS-3).
    override func status() async -> ExtensionStatus {
        guard let service = makeService(cards.map(\.sdkInput)) else {
            return ExtensionProvisioningService.entriesUnavailableExtensionStatus  // X-STATUS-2
        }
        return service.extensionStatus(requiresAuthentication: true)
    }

    /// Limit: 20 s. The cards that the phone lacks (X-ENTRIES-1).
    override func passEntries() async -> [PassEntry] {
        let missing = cards.map(\.id).filter { !PassLibrary.isOnPhone($0) }
        return await makeService(fetch(missing))?.passEntries(withDelegate: self) ?? []
    }

    /// Limit: 20 s. The cards that the watch lacks (X-ENTRIES-2).
    override func remotePassEntries() async -> [PassEntry] {
        let missing = cards.map(\.id).filter { !PassLibrary.isOnWatch($0) }
        return await makeService(fetch(missing))?.remotePassEntries(withDelegate: self) ?? []
    }

    /// Limit: 20 s (wallet). Hands on what the wallet gave, unchanged; nil when the SDK throws (X-GEN-1).
    override func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        _ identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data
    ) async -> AddPaymentPassRequest? {
        // Is the identifier the payment instrument id? The document does not say: if not, fetch all.
        let ids = cards.map(\.id)
        let service = makeService(await fetch(ids.contains(identifier) ? [identifier] : ids))
        do {
            return try await service?.generateAddPaymentPassRequestForPassEntryWithIdentifier(
                identifier: identifier, configuration: configuration, certificateChain: certificateChain,
                nonce: nonce, nonceSignature: nonceSignature, delegate: self)
        } catch {
            log("no add-payment-pass request", error)
            return nil
        }
    }

    /// One GET for each card, all at the same time (API-12). A card whose GET fails or is late is left out. A token that
    /// is no longer taken (401) ends what was saved: `status()` then offers nothing until the app was opened again.
    private func fetch(_ ids: [String]) async -> [Data] {
        guard let backEnd else { return [] }
        return await withTaskGroup(of: (String, Data?).self) { group in
            for id in ids {
                group.addTask {
                    do {
                        return (id, try await backEnd.activationData(for: id))
                    } catch {
                        if case .signIn? = error as? BackEndFailure { SharedStore.delete() }
                        return (id, nil)
                    }
                }
            }
            var found: [String: Data] = [:]
            for await (id, sdkInput) in group { found[id] = sdkInput }
            return ids.compactMap { found[$0] }  // in the app's order
        }
    }

    /// The SDK's service, nil without cards. It leaves out an sdkInput that the SDK refuses.
    private func makeService(_ sdkInputs: [Data]) -> ExtensionProvisioningService? {
        guard !sdkInputs.isEmpty else { return nil }
        if let service = try? ExtensionProvisioningService(sdkInputs: sdkInputs) { return service }
        let usable = sdkInputs.filter { (try? ExtensionProvisioningService(sdkInput: $0)) != nil }
        return usable.count < sdkInputs.count ? makeService(usable) : nil
    }

    /// The kind of an error: its text may hold an address or a body.
    private func log(_ what: String, _ error: Error) {
        NSLog("%@: %@", what, "\(type(of: error))")
    }
}

extension ExtensionHandler: ExtensionProvisioningDelegate {
    /// The picture of exactly this card (X-ART-1).
    func cardArt(paymentInstrumentId: String) -> UIImage {
        let card = cards.first { $0.id == paymentInstrumentId }
        return card.flatMap { UIImage(named: $0.artName) } ?? UIImage()  // not reached: see `cards`
    }

    /// The POST, made once (X-DEL-1, REL-1).
    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data? {
        do {
            return try await backEnd?.provision(paymentInstrumentId, sdkOutput: sdkOutput)
        } catch {
            log("no sdkInput", error)
            return nil
        }
    }
}
