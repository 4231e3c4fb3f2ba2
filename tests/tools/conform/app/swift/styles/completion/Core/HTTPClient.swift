import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

enum HTTPClientError: Error {
    case status(Int)
    case malformed
    case timedOut
    case transport
}

/// Talks to the bank's back end. Completions come on no particular queue, and exactly once.
final class HTTPClient {
    typealias Completion = (Result<Data, HTTPClientError>) -> Void

    let baseURL: URL
    private let token: String
    private let deadline: TimeInterval
    private let session: URLSession

    init(baseURL: URL, token: String, deadline: TimeInterval = 9) {
        self.baseURL = baseURL
        self.token = token
        self.deadline = deadline
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = deadline
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    deinit { session.finishTasksAndInvalidate() }

    func getActivationData(cardID: String, completion: @escaping Completion) {
        perform(makeRequest("GET", "/cards/\(cardID)/activation-data", body: nil), completion)
    }

    func postProvision(cardID: String, sdkOutput: Data, completion: @escaping Completion) {
        let body = ["sdkOutput": sdkOutput.base64EncodedString()]
        guard let json = try? JSONSerialization.data(withJSONObject: body) else { return completion(.failure(.malformed)) }
        perform(makeRequest("POST", "/cards/\(cardID)/provision", body: json), completion)
    }

    private func makeRequest(_ method: String, _ path: String, body: Data?) -> URLRequest {
        var request = URLRequest(url: baseURL.appendingPathComponent(path))
        request.httpMethod = method
        request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        request.timeoutInterval = deadline
        request.addValue("Bearer " + token, forHTTPHeaderField: "Authorization")
        request.addValue("application/json", forHTTPHeaderField: "Content-Type")
        request.addValue("application/json", forHTTPHeaderField: "Accept")
        request.httpBody = body
        return request
    }

    private func perform(_ request: URLRequest, _ completion: @escaping Completion) {
        let once = Once(completion)
        let finish: Completion = { once.call($0) }
        let task = session.dataTask(with: request) { data, response, error in
            guard error == nil, let http = response as? HTTPURLResponse else {
                let isLate = (error as? URLError)?.code == .timedOut
                return finish(.failure(isLate ? .timedOut : .transport))
            }
            guard http.statusCode == 200 else { return finish(.failure(.status(http.statusCode))) }
            guard
                let object = data.flatMap({ try? JSONSerialization.jsonObject(with: $0) }) as? [String: Any],
                let text = object["sdkInput"] as? String, !text.isEmpty, let bytes = Data(base64Encoded: text)
            else { return finish(.failure(.malformed)) }
            finish(.success(bytes))
        }
        task.resume()
        DispatchQueue.global().asyncAfter(deadline: .now() + deadline) { [weak task] in
            guard once.call(.failure(.timedOut)) else { return }
            task?.cancel()
        }
    }
}

/// Calls a completion the first time only.
final class Once<Value> {
    private let lock = NSLock()
    private var completion: ((Value) -> Void)?

    init(_ completion: @escaping (Value) -> Void) { self.completion = completion }

    @discardableResult
    func call(_ value: Value) -> Bool {
        lock.lock()
        let taken = completion
        completion = nil
        lock.unlock()
        taken?(value)
        return taken != nil
    }
}
