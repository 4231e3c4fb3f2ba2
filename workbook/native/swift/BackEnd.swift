import Foundation

/// Why there is no sdkInput. It carries no body, no address and no value, so it may be logged.
enum BackEndFailure: Error {
    case signIn, noSuchCard, tryLater
}

/// Your back end, as your app and its extension see it: two calls with the cardholder's session, and no API key.
///
/// The SDK has bytes, JSON has text: this is the one place that encodes and decodes base64, once each way (API-8, sdk-b).
struct BackEnd: Sendable {
    let address: URL
    let sessionToken: @Sendable () -> String?

    func activationData(for cardId: String) async throws -> Data {
        try await call("GET", cardId, "activation-data", body: nil)
    }

    func provision(_ cardId: String, sdkOutput: Data) async throws -> Data {
        let body = try JSONSerialization.data(withJSONObject: ["sdkOutput": sdkOutput.base64EncodedString()])
        return try await call("POST", cardId, "provision", body: body)
    }

    /// One call, made once.
    private func call(_ method: String, _ cardId: String, _ operation: String, body: Data?) async throws -> Data {
        // the id is one segment of the path
        guard let id = cardId.addingPercentEncoding(withAllowedCharacters: .alphanumerics), !id.isEmpty,
            let url = URL(string: "\(address.absoluteString)/cards/\(id)/\(operation)")
        else { throw BackEndFailure.noSuchCard }
        guard let token = sessionToken() else { throw BackEndFailure.signIn }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "content-type") }

        let (answer, status) = await Self.send(request)
        switch status {
        case 200: return try sdkInput(of: answer)
        case 401: throw BackEndFailure.signIn
        case 403, 404: throw BackEndFailure.noSuchCard
        default: throw BackEndFailure.tryLater
        }
    }

    /// No status: no answer. `data(for:)` needs system 15, the SDK 13.4 (sdk-b).
    private static func send(_ request: URLRequest) async -> (Data, Int?) {
        await withCheckedContinuation { continuation in
            client.dataTask(with: request) { body, response, _ in  // the error has the address
                continuation.resume(returning: (body ?? Data(), (response as? HTTPURLResponse)?.statusCode))
            }.resume()
        }
    }

    /// A 200 without a filled sdkInput is a failure, too (REL-6).
    private func sdkInput(of body: Data) throws -> Data {
        guard
            let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any],
            let text = json["sdkInput"] as? String,
            let bytes = Data(base64Encoded: text), !bytes.isEmpty
        else { throw BackEndFailure.tryLater }
        return bytes
    }

    private static let client: URLSession = {
        let settings = URLSessionConfiguration.ephemeral  // no cookies and no cache of another cardholder
        settings.timeoutIntervalForResource = 9  // seconds for the whole call, longer than the back end's own 8 s
        settings.httpShouldSetCookies = false
        settings.urlCache = nil
        return URLSession(configuration: settings, delegate: NoRedirects(), delegateQueue: nil)
    }()
}

/// The session's token goes to your own back end only.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        nil
    }
}
