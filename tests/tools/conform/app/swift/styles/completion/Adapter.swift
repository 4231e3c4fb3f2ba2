import Foundation
import Provisioning

@MainActor
final class TestedApp: AppUnderTest {
    private let address: URL
    private let watch = WatchAvailability()
    private var session: String
    private var controller: CardViewController?

    init(address: URL, session: String) { (self.address, self.session) = (address, session) }

    private var environment: CardViewController.Environment {
        CardViewController.Environment(
            client: HTTPClient(baseURL: address, token: session), shared: SharedCards(group: "TEAM.bank"),
            token: session, watch: watch, isInWallet: { Workbook.holds($0) })
    }

    var screen: Screen {
        guard let controller else { return Screen(.absent) }
        let buttons: [CardViewController.ButtonState: Screen.Button] = [
            .notThere: .absent, .enabled: .shown, .disabled: .disabled, .hidden: .hidden,
        ]
        return Screen(buttons[controller.buttonState] ?? .absent, message: controller.label ?? "")
    }

    func openCardPage(_ card: String) {
        controller = CardViewController(cardID: card, environment: environment)
        controller?.viewDidAppear()
    }

    func tapAdd() { controller?.addToWalletTapped() }

    func closeCardPage() { controller = nil }

    func signOut() {
        (controller, session) = (nil, "")
        environment.shared.removeAll()
    }
}

@main
struct Main {
    static func main() async throws {
        try await conform(
            app: { TestedApp(address: $0, session: $1) },
            handler: { IssuerExtension(shared: SharedCards(group: "TEAM.bank")) })
    }
}
