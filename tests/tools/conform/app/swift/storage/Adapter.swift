import Foundation
import OperatorSDK

@MainActor
final class App: AppUnderTest {
    private let backEnd: BackEnd
    private let session: String
    private(set) var screen = Screen(.absent)

    init(address: URL, session: String) {
        (self.backEnd, self.session) = (BackEnd(address: address, sessionToken: { session }), session)
    }

    func openCardPage(_ card: String) {
        Task {
            guard let sdkInput = try? await backEnd.activationData(for: card),
                (try? ProvisioningService(sdkInput: sdkInput)) != nil
            else { return }
            var saved = Vault.read(writes: true) ?? Saved(backEnd: backEnd.address, token: session)
            saved.cards[card] = sdkInput
            Vault.save(saved)
            screen = Screen(.shown)
        }
    }

    func tapAdd() {}
    func closeCardPage() { screen = Screen(.absent) }
}

@main
struct Storage {
    static func main() async throws { try await conform(app: App.init, handler: { Handler() }) }
}
