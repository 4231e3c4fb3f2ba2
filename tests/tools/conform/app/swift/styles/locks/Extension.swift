import Foundation
import Provisioning

final class CardsHandler: IssuerProvisioningExtensionHandler, @unchecked Sendable {
    private let files: CardValues

    init(files: CardValues) {
        self.files = files
        super.init()
    }

    override func status() async -> ExtensionStatus {
        guard let service = Self.service(files.all().map(\.sdkInput)) else {
            return ExtensionProvisioningService.entriesUnavailableExtensionStatus
        }
        return service.extensionStatus(requiresAuthentication: true)
    }

    override func passEntries(completion: @escaping @Sendable ([PassEntry]) -> Void) {
        DispatchQueue.global().async { [self] in
            let (service, delegate) = prepared()
            completion(delegate.flatMap { service?.passEntries(withDelegate: $0) } ?? [])
        }
    }

    override func remotePassEntries(completion: @escaping @Sendable ([PassEntry]) -> Void) {
        DispatchQueue.global().async { [self] in
            let (service, delegate) = prepared()
            completion(delegate.flatMap { service?.remotePassEntries(withDelegate: $0) } ?? [])
        }
    }

    /// With what is saved: the document asks for no GET here. Only what the SDK refuses is fetched again.
    override func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        _ identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data
    ) async -> AddPaymentPassRequest? {
        let saved = files.all()
        guard let one = saved.first else { return nil }
        let client = BackEndClient(root: one.backEnd, token: one.token)
        var service = saved.first { $0.card == identifier }.flatMap { Self.service([$0.sdkInput]) }
        if service == nil {
            let (fresh, _) = await withCheckedContinuation { waiting in
                DispatchQueue.global().async { [self] in waiting.resume(returning: prepared()) }
            }
            service = fresh
        }
        return try? await service?.generateAddPaymentPassRequestForPassEntryWithIdentifier(
            identifier: identifier, configuration: configuration, certificateChain: certificateChain,
            nonce: nonce, nonceSignature: nonceSignature, delegate: EntryDelegate(client: client))
    }

    /// Fetches every card's data at the same time, saves what came, and makes the service.
    private func prepared() -> (ExtensionProvisioningService?, EntryDelegate?) {
        let saved = files.all()
        guard let one = saved.first else { return (nil, nil) }
        let client = BackEndClient(root: one.backEnd, token: one.token)
        let results = Box(saved)
        let isSignedOut = Box(false)
        let group = DispatchGroup()
        for (position, card) in saved.enumerated() {
            let thread = Thread { [files] in
                defer { group.leave() }
                do {
                    var new = card
                    new.sdkInput = try client.get(card.card)
                    results.update { $0[position] = new }
                    try? files.write(new)
                } catch BackEndClient.Problem.signIn {
                    isSignedOut.value = true
                } catch {}
            }
            group.enter()
            thread.start()
        }
        group.wait()
        if isSignedOut.value {
            files.deleteAll()
            return (nil, nil)
        }
        return (Self.service(results.value.map(\.sdkInput)), EntryDelegate(client: client))
    }

    private static func service(_ inputs: [Data]) -> ExtensionProvisioningService? {
        let usable = inputs.filter { (try? ExtensionProvisioningService(sdkInput: $0)) != nil }
        return try? ExtensionProvisioningService(sdkInputs: usable)
    }
}

final class EntryDelegate: ExtensionProvisioningDelegate, @unchecked Sendable {
    private let client: BackEndClient

    init(client: BackEndClient) { self.client = client }

    func cardArt(paymentInstrumentId: String) -> CGImage { Workbook.picture(named: paymentInstrumentId) }

    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data? {
        await withCheckedContinuation { waiting in
            DispatchQueue.global().async { [client] in
                waiting.resume(returning: try? client.post(paymentInstrumentId, sdkOutput))
            }
        }
    }
}
