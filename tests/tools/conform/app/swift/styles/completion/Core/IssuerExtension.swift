import Foundation
import Provisioning

/// The wallet's calls, with completions.
final class IssuerExtension: IssuerProvisioningExtensionHandler, ExtensionProvisioningDelegate {
    private let shared: SharedCards
    private var client: HTTPClient?

    init(shared: SharedCards) {
        self.shared = shared
        super.init()
    }

    override func status(completion: @escaping @Sendable (ExtensionStatus) -> Void) {
        let saved = (shared.index()?.cardIDs ?? []).compactMap { shared.sdkInput($0) }
        guard let service = makeService(saved) else {
            return completion(ExtensionProvisioningService.entriesUnavailableExtensionStatus)
        }
        completion(service.extensionStatus(requiresAuthentication: true))
    }

    override func passEntries(completion: @escaping @Sendable ([PassEntry]) -> Void) {
        freshInputs(only: nil) { inputs in
            completion(self.makeService(inputs)?.passEntries(withDelegate: self) ?? [])
        }
    }

    override func remotePassEntries(completion: @escaping @Sendable ([PassEntry]) -> Void) {
        freshInputs(only: nil) { inputs in
            completion(self.makeService(inputs)?.remotePassEntries(withDelegate: self) ?? [])
        }
    }

    override func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        _ identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data, completionHandler: @escaping @Sendable (AddPaymentPassRequest?) -> Void
    ) {
        freshInputs(only: identifier) { inputs in
            guard let service = self.makeService(inputs) else { return completionHandler(nil) }
            Task {
                let request = try? await service.generateAddPaymentPassRequestForPassEntryWithIdentifier(
                    identifier: identifier, configuration: configuration, certificateChain: certificateChain,
                    nonce: nonce, nonceSignature: nonceSignature, delegate: self)
                completionHandler(request)
            }
        }
    }

    // MARK: ExtensionProvisioningDelegate

    func cardArt(paymentInstrumentId: String) -> CGImage { Workbook.picture(named: paymentInstrumentId) }

    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data? {
        guard let client else { return nil }
        return await withCheckedContinuation { continuation in
            client.postProvision(cardID: paymentInstrumentId, sdkOutput: sdkOutput) { result in
                continuation.resume(returning: try? result.get())
            }
        }
    }

    // MARK: private

    /// All GETs at the same time; a card whose GET fails keeps what was saved.
    private func freshInputs(only cardID: String?, completion: @escaping ([Data]) -> Void) {
        guard let index = shared.index(), let backEnd = URL(string: index.backEnd) else { return completion([]) }
        let cardIDs = index.cardIDs.filter { cardID == nil || $0 == cardID }
        let client = HTTPClient(baseURL: backEnd, token: index.token)
        self.client = client
        let (group, queue) = (DispatchGroup(), DispatchQueue(label: "answers"))
        var answers: [String: Data] = [:]
        var isSignedOut = false
        for cardID in cardIDs {
            group.enter()
            client.getActivationData(cardID: cardID) { result in
                queue.async {
                    switch result {
                    case .success(let sdkInput): answers[cardID] = sdkInput
                    case .failure(.status(401)): isSignedOut = true
                    case .failure: break
                    }
                    group.leave()
                }
            }
        }
        group.notify(queue: queue) { [shared] in
            if isSignedOut {
                shared.removeAll()
                return completion([])
            }
            completion(cardIDs.compactMap { answers[$0] ?? shared.sdkInput($0) })
        }
    }

    private func makeService(_ inputs: [Data]) -> ExtensionProvisioningService? {
        guard !inputs.isEmpty else { return nil }
        if let service = try? ExtensionProvisioningService(sdkInputs: inputs) { return service }
        let good = inputs.filter { (try? ExtensionProvisioningService(sdkInput: $0)) != nil }
        return good.isEmpty ? nil : try? ExtensionProvisioningService(sdkInputs: good)
    }
}
