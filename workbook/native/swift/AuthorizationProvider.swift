import UIKit

/// The authorization UI: the cardholder proves who they are, before the card is added (X-AUTH-1, X-AUTH-2).
final class AuthorizationProvider: UIViewController, IssuerProvisioningAuthorization {
    var completionHandler: ((AuthorizationResult) -> Void)?  // the wallet sets it before the view appears
    private var hasAsked = false

    override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)
        guard !hasAsked else { return }  // back from the log-in
        hasAsked = true
        Task {
            let authenticated = await LogIn.ask(on: self)
            report(authenticated ? .authorized : .canceled)
        }
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        guard presentedViewController == nil else { return }  // under the log-in
        report(.canceled)  // the cardholder went away
    }

    /// Reports once: a second call may end the extension (assumed).
    private func report(_ result: AuthorizationResult) {
        let handler = completionHandler
        completionHandler = nil
        handler?(result)
    }
}
