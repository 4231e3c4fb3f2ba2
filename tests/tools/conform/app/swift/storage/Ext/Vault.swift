// The extension's file has the name of one of the app's, as two targets may have it. Its SDK has a name of its own.
import Foundation
import OperatorSDK

final class Handler: IssuerProvisioningExtensionHandler, ExtensionProvisioningDelegate {
    private let saved = Vault.read()
    private var backEnd: BackEnd? {
        saved.map { saved in BackEnd(address: saved.backEnd, sessionToken: { saved.token }) }
    }

    override func status() async -> ExtensionStatus {
        make(saved?.cards.values.map { $0 } ?? [])?.extensionStatus(requiresAuthentication: true)
            ?? ExtensionProvisioningService.entriesUnavailableExtensionStatus
    }

    override func passEntries() async -> [PassEntry] { make(await fetch())?.passEntries(withDelegate: self) ?? [] }

    override func remotePassEntries() async -> [PassEntry] {
        make(await fetch())?.remotePassEntries(withDelegate: self) ?? []
    }

    override func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        _ identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data
    ) async -> AddPaymentPassRequest? {
        try? await make(await fetch())?.generateAddPaymentPassRequestForPassEntryWithIdentifier(
            identifier: identifier, configuration: configuration, certificateChain: certificateChain,
            nonce: nonce, nonceSignature: nonceSignature, delegate: self)
    }

    func cardArt(paymentInstrumentId: String) -> CGImage { Workbook.picture(named: paymentInstrumentId) }

    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data? {
        try? await backEnd?.provision(paymentInstrumentId, sdkOutput: sdkOutput)
    }

    private func make(_ sdkInputs: [Data]) -> ExtensionProvisioningService? {
        try? ExtensionProvisioningService(
            sdkInputs: sdkInputs.filter { (try? ExtensionProvisioningService(sdkInput: $0)) != nil })
    }

    private func fetch() async -> [Data] {
        var found: [Data] = []
        for id in saved?.cards.keys.sorted() ?? [] {
            if let sdkInput = try? await backEnd?.activationData(for: id) { found.append(sdkInput) }
        }
        return found
    }
}
