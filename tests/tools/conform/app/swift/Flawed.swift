// An app and an extension that make the mistake that FLAW names, and else none. Each `has` is one mistake.
import Foundation
import Provisioning

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

let flaw = ProcessInfo.processInfo.environment["FLAW"] ?? ""

func has(_ names: String...) -> Bool { names.contains(flaw) }

struct Failure: Error {}

/// What app and extension share: one file for each card, named by its number, and one for the session.
struct Card: Codable, Sendable {
    let id: String
    let sdkInput: Data
}

struct Saved: Codable, Sendable {
    var address: URL
    var session: String
    var cards: [Card] = []

    static let file = Workbook.sharedFolder.appendingPathComponent("saved.json")

    static func read() -> Saved? {
        if has("forces what was saved") {
            return try! JSONDecoder().decode(Saved.self, from: Data(contentsOf: file))
        }
        return try? JSONDecoder().decode(Saved.self, from: Data(contentsOf: file))
    }

    func write() { try? JSONEncoder().encode(self).write(to: Self.file) }
}

/// The issuer's back end.
struct BackEnd: Sendable {
    let address: URL
    let session: String

    func get(_ card: String) async throws -> Data { try await sdkInput("GET", card, "activation-data", nil) }

    func post(_ card: String, _ sdkOutput: Data) async throws -> Data {
        var text = sdkOutput.base64EncodedString()
        if has("encodes twice") { text = Data(text.utf8).base64EncodedString() }
        if has("logs sdkOutput") { print("posting", text) }
        do {
            return try await sdkInput("POST", card, "provision", ["sdkOutput": text])
        } catch {
            if has("logs a failed sdkOutput") { print("failed", text) }
            if has("repeats the POST") { return try await sdkInput("POST", card, "provision", ["sdkOutput": text]) }
            throw error
        }
    }

    private func sdkInput(_ method: String, _ card: String, _ operation: String, _ body: [String: String]?) async throws -> Data {
        let url = address.appendingPathComponent("cards/\(card)/\(operation)")
        var request = URLRequest(url: has("calls the API") ? URL(string: "http://api.example/\(operation)")! : url)
        request.httpMethod = method
        request.timeoutInterval = has("has no time limit", "blocks the main thread") ? 300 : has("asks one by one") ? 7 : 4
        request.setValue("Bearer \(session)", forHTTPHeaderField: "authorization")
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        if has("sends the key") { request.setValue("key", forHTTPHeaderField: "x-api-key") }
        request.httpBody = try body.map { try JSONEncoder().encode($0) }
        let (answer, status) = await send(request)
        if has("takes any answer") { return Data("made up".utf8) }
        guard status == 200, let text = Self.text(answer), !text.isEmpty else { throw Failure() }
        if has("logs sdkInput") { print("got", text) }
        if has("logs the session") { print("session", session) }
        if has("decodes nothing") { return Data(text.utf8) }
        guard let bytes = Data(base64Encoded: text), !bytes.isEmpty else { throw Failure() }
        if has("logs the decoded sdkInput") { print(String(decoding: bytes, as: UTF8.self)) }
        return bytes
    }

    private static func text(_ answer: Data) -> String? {
        if has("reads JSON by hand") {
            return String(decoding: answer, as: UTF8.self).components(separatedBy: "\"").dropFirst(3).first
        }
        return (try? JSONSerialization.jsonObject(with: answer) as? [String: Any])?["sdkInput"] as? String
    }
}

func send(_ request: URLRequest) async -> (Data, Int?) {
    await withCheckedContinuation { waiting in
        URLSession.shared.dataTask(with: request) { body, response, _ in
            waiting.resume(returning: (body ?? Data(), (response as? HTTPURLResponse)?.statusCode))
        }.resume()
    }
}

@MainActor
final class App: AppUnderTest, ProvisioningDelegate {
    static let watch = WatchAvailability()
    static var kept: [String: Data] = [:]
    static var old: Data?

    static func keep(_ sdkInput: Data) { old = sdkInput }

    let address: URL
    let token: String
    var session: String
    var backEnd: BackEnd { BackEnd(address: address, session: session) }
    var card = ""
    var firstCard = ""
    var service: ProvisioningService?
    var screen = Screen(.absent)
    var isBusy = false
    var wasAdded = false
    var hasFailed = false

    init(address: URL, session: String) { (self.address, self.session, token) = (address, session, session) }

    func openCardPage(_ card: String) {
        self.card = card
        if firstCard.isEmpty { firstCard = card }
        isBusy = false
        wasAdded = false
        screen = has("is shown while asking") ? Screen(.shown) : Screen(.absent)
        if has("blocks the main thread") { waitForBackEnd(card) }
        Task {
            await open()
            if has("asks twice") { await open() }
        }
    }

    func open() async {
        do {
            if has("offers nothing after a failure"), hasFailed { throw Failure() }
            if has("leaves a lock"), FileManager.default.fileExists(atPath: lock.path) { throw Failure() }
            let sdkInput = try await fetch()
            remember(sdkInput)
            service = try ProvisioningService(sdkInput: has("makes the service of text") ? Data(sdkInput.base64EncodedString().utf8) : sdkInput)
            await ask()
            if has("starts by itself") { start() }
        } catch {
            hasFailed = true
            screen = has("is shown after a failure") ? Screen(.shown) : Screen(.hidden, message: has("hides the GET's failure") ? "" : "Try again later.")
        }
    }

    func fetch() async throws -> Data {
        if has("keeps the sdkInput"), let kept = Self.kept[card] { return kept }
        let sdkInput = try await backEnd.get(card)
        Self.kept[card] = sdkInput
        return sdkInput
    }

    func remember(_ sdkInput: Data) {
        if has("saves nothing") { return }
        let session = has("saves no session") ? "" : backEnd.session
        var saved = Saved.read() ?? Saved(address: backEnd.address, session: session)
        saved.cards = saved.cards.filter { $0.id != card } + [Card(id: card, sdkInput: sdkInput)]
        saved.write()
    }

    func ask() async {
        if has("is shown before the answer") { screen = Screen(.shown) }
        let watch = has("makes a watch for each page") ? WatchAvailability() : Self.watch
        var isActivated = has("asks no watch") ? true : await watch.activate()
        if has("ignores the watch") { isActivated = false }
        if has("takes each watch for active") { isActivated = true }
        let canAdd = service?.canAddCardDetails(isWatchActivated: isActivated).canAddCard ?? false
        let isShown = has("is always shown") || (canAdd && !has("is never shown"))
        let message = !canAdd && wasAdded ? (has("says nothing") ? "" : "Added to Wallet") : canAdd ? "" : "Available in Wallet"
        screen = Screen(isShown ? .shown : .hidden, message: screen.message.isEmpty ? message : screen.message)
    }

    func tapAdd() {
        if has("never starts") { return }
        guard screen.button == .shown, has("has no guard") || !isBusy else { return }
        start()
    }

    func start() {
        isBusy = true
        screen = Screen(has("has no guard", "stays enabled") ? .shown : .disabled)
        if has("leaves a lock") { try? Data().write(to: lock) }
        do {
            try service?.start(delegate: self, presentingViewController: UIViewController())
        } catch {
            end(Screen(has("stays disabled when start throws") ? .disabled : .shown, message: "Not added"))
        }
    }

    func end(_ shown: Screen) {
        isBusy = false
        screen = shown
        try? FileManager.default.removeItem(at: lock)
    }

    nonisolated func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data? {
        let card = await has("posts for the first card") ? firstCard : paymentInstrumentId
        do {
            let sdkInput = try await backEnd.post(card, sdkOutput)
            if has("hands on an old answer"), let old = await Self.old { return old }
            await Self.keep(sdkInput)
            return await isGone ? nil : sdkInput
        } catch { return has("returns empty data") ? Data() : nil }
    }

    nonisolated func didFinishProvisioning(with pass: PaymentPass?, error: Error?) {
        let added = pass != nil
        var cancelled = false
        if case .userCancelled? = error as? ProvisioningServiceError { cancelled = true }
        let words = error.map { "\($0)" } ?? ""
        Task { @MainActor [cancelled] in await finish(added, cancelled, words) }
    }

    func finish(_ added: Bool, _ cancelled: Bool, _ error: String) async {
        if has("stays disabled") || (cancelled && has("stays disabled after a cancel")) || (error.isEmpty && !added && has("waits for an error")) { return }
        wasAdded = added || has("takes each end for a success")
        let message = words(added, cancelled, error)
        if wasAdded, has("is shown after a success") { return end(Screen(.shown, message: message)) }
        end(Screen(.disabled, message: message))  // until the SDK has been asked
        if added, has("hides after a success") { return screen = Screen(.hidden, message: "Added to Wallet") }
        if has("takes each end for a success") { return screen = Screen(.hidden, message: "Added to Wallet") }
        await ask()
    }

    func words(_ added: Bool, _ cancelled: Bool, _ error: String) -> String {
        if added { return has("says nothing") ? "" : "Added to Wallet" }
        if cancelled { return has("tells a cancel") ? "Error: not added" : "" }
        return has("tells no failure") ? "" : has("tells the error") ? "Not added: \(error)" : "Not added"
    }

    func closeCardPage() {
        screen = Screen(.absent)
        service = nil
    }

    var isGone = false

    func signOut() {
        closeCardPage()
        if !has("signs out nowhere") { (session, Self.kept) = ("", [:]) }
        if !has("signs out nowhere", "leaves the cards") { try? FileManager.default.removeItem(at: Saved.file) }
        if has("leaves the session") { try? JSONEncoder().encode(Saved(address: address, session: token)).write(to: Saved.file) }
    }

    func enterBackground() { isGone = has("stops in the background") }

    func enterForeground() {}

    var lock: URL { Workbook.sharedFolder.appendingPathComponent("attempt") }

    func waitForBackEnd(_ card: String) {
        let (done, backEnd) = (DispatchSemaphore(value: 0), backEnd)
        Task.detached {
            _ = try? await backEnd.get(card)
            done.signal()
        }
        done.wait()
    }
}

/// The extension.
class Handler: IssuerProvisioningExtensionHandler, ExtensionProvisioningDelegate {
    static var service: ExtensionProvisioningService?
    let saved = Saved.read()
    var cards: [Card] { has("knows one card") ? Array((saved?.cards ?? []).prefix(1)) : saved?.cards ?? [] }
    var backEnd: BackEnd? { saved.map { BackEnd(address: $0.address, session: $0.session) } }

    override func status() async -> ExtensionStatus {
        let unavailable = ExtensionProvisioningService.entriesUnavailableExtensionStatus
        if has("is never available") { return unavailable }
        if has("is always available") { return ExtensionProvisioningService.entriesAvailableExtensionStatus }
        if has("fetches in status") { _ = await fetch(cards.map(\.id)) }
        if has("is slow") { try? await Task.sleep(nanoseconds: 150_000_000) }
        if has("takes turns") {
            let lock = Workbook.sharedFolder.appendingPathComponent("status")
            guard FileManager.default.createFile(atPath: lock.path, contents: nil), !FileManager.default.fileExists(atPath: lock.path + "2") else { return unavailable }
            try? Data().write(to: URL(fileURLWithPath: lock.path + "2"))
        }
        return make(cards.map(\.sdkInput))?.extensionStatus(requiresAuthentication: !has("asks for no authentication")) ?? unavailable
    }

    override func passEntries() async -> [PassEntry] { await list { $0.passEntries(withDelegate: self) } }

    override func remotePassEntries() async -> [PassEntry] {
        await list { has("lists the phone's for the watch") ? $0.passEntries(withDelegate: self) : $0.remotePassEntries(withDelegate: self) }
    }

    func list(_ entries: (ExtensionProvisioningService) -> [PassEntry]) async -> [PassEntry] {
        if has("logs the session"), let saved { print("session", saved.session) }
        if has("goes on afterwards"), let backEnd {
            let ids = cards.map(\.id)
            Task.detached {
                try? await Task.sleep(nanoseconds: 200_000_000)
                for id in ids { _ = try? await backEnd.get(id) }
            }
        }
        if has("lists once") { try? FileManager.default.removeItem(at: Saved.file) }
        let data = has("lists what expired", "goes on afterwards") ? cards.map(\.sdkInput) : await fetch(cards.map(\.id))
        guard let service = make(data) else { return [] }
        if has("needs the list's service") { Self.service = service }
        return entries(service)
    }

    override func generateAddPaymentPassRequestForPassEntryWithIdentifier(
        _ identifier: String, configuration: AddPaymentPassRequestConfiguration, certificateChain: [Data],
        nonce: Data, nonceSignature: Data
    ) async -> AddPaymentPassRequest? {
        if has("makes no request") { return nil }
        var chosen = identifier
        if has("requests the first card") { chosen = cards.first?.id ?? identifier }
        if has("looks the card up by force") { chosen = cards[cards.firstIndex { $0.id == identifier }!].id }
        let chain = has("reverses the chain") ? certificateChain.reversed() : has("hands on the leaf") ? [certificateChain[0]] : certificateChain
        let swaps = has("swaps nonce and signature")
        let fresh = has("requests with what was saved") ? cards.map(\.sdkInput) : await fetch(cards.map(\.id))
        if has("needs the list's service"), Self.service == nil { return nil }
        if has("keeps the request's service"), Self.service == nil { Self.service = make(fresh) }
        let service = has("keeps the request's service") ? Self.service : make(fresh)
        if has("forces what was saved") { _ = service! }
        if has("completes nothing"), service == nil { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
        do {
            return try await service?.generateAddPaymentPassRequestForPassEntryWithIdentifier(
                identifier: chosen, configuration: has("makes a configuration") ? AddPaymentPassRequestConfiguration() : configuration,
                certificateChain: chain, nonce: swaps ? nonceSignature : nonce, nonceSignature: swaps ? nonce : nonceSignature,
                delegate: self)
        } catch {
            if has("forces the request") { fatalError("\(error)") }
            return nil
        }
    }

    func make(_ inputs: [Data]) -> ExtensionProvisioningService? {
        if has("keeps the service"), let kept = Self.service { return kept }
        let usable = has("takes all or nothing") ? inputs : inputs.filter { (try? ExtensionProvisioningService(sdkInput: $0)) != nil }
        let made = has("forces the service") ? try! ExtensionProvisioningService(sdkInputs: usable) : try? ExtensionProvisioningService(sdkInputs: usable)
        if has("keeps the service") { Self.service = made }
        return made
    }

    func fetch(_ ids: [String]) async -> [Data] {
        var found: [Data] = []
        for id in ids {
            if has("forces each GET") {
                found.append(try! await backEnd!.get(id))
            } else if let sdkInput = try? await backEnd?.get(id) {
                found.append(sdkInput)
            }
        }
        return found
    }

    func cardArt(paymentInstrumentId: String) -> CGImage {
        if has("forces the picture") { _ = cards.first { $0.id == paymentInstrumentId }! }
        return Workbook.picture(named: has("shows one picture") ? cards.first?.id ?? "" : paymentInstrumentId)
    }

    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data? {
        let card = has("posts for the first card") ? cards.first?.id ?? "" : paymentInstrumentId
        do { return try await backEnd?.post(card, sdkOutput) } catch { return has("returns empty data") ? Data() : nil }
    }
}

/// Its functions have completions.
final class Completing: IssuerProvisioningExtensionHandler {
    override func status(completion: @escaping @Sendable (ExtensionStatus) -> Void) {
        let status = ExtensionProvisioningService.entriesUnavailableExtensionStatus
        if has("completes twice") { completion(status) }
        if !has("never completes") { completion(status) }
    }
}

@main
struct Flawed {
    static func main() async throws {
        try await conform(
            app: App.init,
            handler: { has("completes twice", "never completes") ? Completing() : Handler() })
    }
}
