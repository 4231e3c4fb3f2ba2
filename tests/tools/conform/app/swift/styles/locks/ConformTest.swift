import Foundation
import Provisioning

@MainActor
final class Tested: AppUnderTest {
    private var client: BackEndClient
    private let files = CardValues("group.bank")
    private var page: AddToWallet?

    init(backEnd: URL, session: String) { client = BackEndClient(root: backEnd.absoluteString, token: session) }

    var screen: Screen {
        guard let view = page?.view else { return Screen(.absent) }
        switch view.button {
        case .loading: return Screen(.disabled, message: view.note)
        case .busy: return Screen(.disabled, message: view.note)
        case .ready: return Screen(.shown, message: view.note)
        case .retry: return Screen(.hidden, message: view.note)  // another button: Try again
        case .none: return Screen(.absent, message: view.note)
        }
    }

    func openCardPage(_ card: String) {
        page = AddToWallet(card: card, client: client, files: files, isInWallet: { Workbook.holds($0) })
        page?.load()
    }

    func tapAdd() { page?.tapped(presenting: UIViewController()) }

    func closeCardPage() { page = nil }

    func signOut() {
        page = nil
        client = BackEndClient(root: client.root, token: "")
        files.deleteAll()
    }
}

@main
struct Program {
    static func main() async throws {
        try await conform(app: Tested.init, handler: { CardsHandler(files: CardValues("group.bank")) })
    }
}
