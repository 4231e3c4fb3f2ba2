import Foundation
import Provisioning

@MainActor
final class Cardholder: AppUnderTest {
    private let backEnd: URL
    private let vault = CardVault(group: "group.bank")
    private var bank: Bank
    private var page: CardPage?

    init(backEnd: URL, session: String) {
        self.backEnd = backEnd
        bank = Bank(address: backEnd, token: session, vault: vault, isInWallet: { Workbook.holds($0) })
    }

    var screen: Screen {
        guard let page else { return Screen(.absent) }
        switch page.button {
        case .none: return Screen(.absent, message: page.text)
        case .add: return Screen(.shown, message: page.text)
        case .waiting: return Screen(.disabled, message: page.text)
        case .gone: return Screen(.hidden, message: page.text)
        }
    }

    func openCardPage(_ card: String) {
        page?.close()
        let page = CardPage(card: card, bank: bank)
        self.page = page
        page.open()
    }

    func tapAdd() { page?.add(on: UIViewController()) }

    func closeCardPage() {
        page?.close()
        page = nil
    }

    func signOut() {
        closeCardPage()
        bank = Bank(address: backEnd, token: "", vault: vault, isInWallet: { Workbook.holds($0) })
        Task { [vault] in await vault.empty() }
    }
}

@main
struct ConformTest {
    static func main() async throws {
        try await conform(
            app: Cardholder.init,
            handler: {
                WalletHandler(
                    vault: CardVault(group: "group.bank"),
                    isOnPhone: { Workbook.holds($0) }, isOnWatch: { Workbook.holds($0, onWatch: true) })
            })
    }
}
