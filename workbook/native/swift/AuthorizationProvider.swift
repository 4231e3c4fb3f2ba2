import UIKit

/// The authorization UI: the cardholder proves who they are, before the card is added (X-AUTH-1, X-AUTH-2).
final class AuthorizationProvider: UIViewController, IssuerProvisioningAuthorization {
    var completionHandler: ((AuthorizationResult) -> Void)?  // the wallet sets it before the view appears

    override func viewDidAppear(_ animated: Bool) {
        super.viewDidAppear(animated)
        Task {
            let authenticated = await LogIn.ask(on: self)  // the log-in of your app
            report(authenticated ? .authorized : .canceled)
        }
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        report(.canceled)  // the cardholder went away
    }

    /// Reports once: a second call may end the extension (wallet).
    private func report(_ result: AuthorizationResult) {
        let handler = completionHandler
        completionHandler = nil
        handler?(result)
    }
}
