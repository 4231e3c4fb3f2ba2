// Beside the files of an app it has the page show each change later, in their order: SLOW=800, or SLOW=0-800 at random.
import Foundation
import Provisioning

@MainActor
final class SlowApp: AppUnderTest {
    private let app: AppUnderTest
    private var coming: [(at: UInt64, screen: Screen)] = []
    private var shown = Screen(.absent)

    init(_ app: AppUnderTest) { self.app = app }

    var screen: Screen {
        let (now, next) = (DispatchTime.now().uptimeNanoseconds, app.screen)
        let latest = coming.last?.screen ?? shown
        if next.button != latest.button || next.message != latest.message {
            coming.append((max(now + Self.pause(), coming.last?.at ?? 0), next))
        }
        while let first = coming.first, first.at <= now { shown = coming.removeFirst().screen }
        return shown
    }

    func openCardPage(_ card: String) {
        app.openCardPage(card)
        (coming, shown) = ([], Screen(.absent))
    }

    func closeCardPage() {
        app.closeCardPage()
        (coming, shown) = ([], Screen(.absent))
    }

    func tapAdd() { app.tapAdd() }

    func enterBackground() { app.enterBackground() }

    func enterForeground() { app.enterForeground() }

    func signOut() { app.signOut() }

    private static func pause() -> UInt64 {
        let bounds = (ProcessInfo.processInfo.environment["SLOW"] ?? "0").split(separator: "-").compactMap { UInt64($0) }
        return UInt64.random(in: bounds[0]...bounds[bounds.count - 1]) * 1_000_000
    }
}

/// In this program it stands before the SDK stand-in's function of this name.
@MainActor
func conform(
    app: (_ backEnd: URL, _ session: String) -> AppUnderTest,
    handler: @Sendable () -> IssuerProvisioningExtensionHandler
) async throws {
    try await Provisioning.conform(app: { SlowApp(app($0, $1)) }, handler: handler)
}
