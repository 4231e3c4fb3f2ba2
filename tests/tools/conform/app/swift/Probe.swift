// Runs the reference app core and the extension of the later variant against `workbook phone`; each line is a fact.
import Foundation
import Provisioning

extension FileManager {
    /// No app group on a plain computer: the timer writes nothing.
    func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? { nil }
}

enum PassLibrary {
    static func isOnPhone(_ id: String) -> Bool { false }
    static func isOnWatch(_ id: String) -> Bool { id.hasSuffix("1") }
}

enum CardArt {
    static func named(_ name: String) -> CGImage? { name.isEmpty ? nil : CGImage(name: name) }
}

let cards = ["PISIMULATED00000000000001", "PISIMULATED00000000000002"]

@main
struct Probe {
    static func main() async throws {
        guard let address = try Workbook.backEndURL else { fatalError("no back end") }
        if CommandLine.arguments.contains("app") {
            try await app(BackEnd(address: address, sessionToken: { "session" }))
        } else {
            try await wallet(address, CommandLine.arguments[1])
        }
    }

    @MainActor
    static func app(_ backEnd: BackEnd) async throws {
        let watch = WatchAvailability()
        for phone in ["ready", "cardholder cancels", "card already in the wallet", "no entitlement"] {
            try Workbook.phone(phone)
            let model = AddCardModel(
                cardId: cards[0],
                app: .init(backEnd: backEnd, watch: watch, save: { _, _ in }, isInWallet: { _ in true }, log: { _ in }))
            await model.opened()
            print("\(phone): \(model.button) \(model.message)")
            if model.button != .shown { continue }
            model.addTapped(on: UIViewController())
            for _ in 0..<500 where model.button == .disabled { try await Task.sleep(nanoseconds: 10_000_000) }
            print("\(phone), after the tap: \(model.button) \(model.message)")
        }
        try Workbook.backEnd("GET", fails: "503")
        let model = AddCardModel(
            cardId: cards[0],
            app: .init(backEnd: backEnd, watch: watch, save: { _, _ in }, isInWallet: { _ in true }, log: { _ in }))
        await model.opened()
        print("GET fails: \(model.button) \(model.message)")
        try Workbook.backEnd("GET", fails: "")
    }

    /// One call of the handler, in a process of its own.
    static func wallet(_ address: URL, _ call: String) async throws {
        let timer = CallTimer(call)
        defer { timer.stop() }
        switch call {
        case "save":
            let backEnd = BackEnd(address: address, sessionToken: { "session" })
            var saved: [SharedStore.Card] = []
            for card in cards {
                saved.append(.init(id: card, artName: card, sdkInput: try await backEnd.activationData(for: card)))
            }
            try SharedStore(backEnd: address, token: "session", cards: saved).save()
            print("saved")
        case "status":
            let status = await ExtensionHandler().status()
            print("\(status.passEntriesAvailable) \(status.requiresAuthentication)")
        case "passEntries":
            print(await ExtensionHandler().passEntries().map(\.art.name).joined(separator: " "))
        case "remotePassEntries":
            try Workbook.phone("with a watch")
            print(await ExtensionHandler().remotePassEntries().map(\.identifier).joined(separator: " "))
        default:
            let bytes = Data(call.utf8)
            let request = await ExtensionHandler().generateAddPaymentPassRequestForPassEntryWithIdentifier(
                cards[1], configuration: AddPaymentPassRequestConfiguration(), certificateChain: [bytes], nonce: bytes,
                nonceSignature: bytes)
            print(request?.identifier ?? "no request")
        }
    }
}
