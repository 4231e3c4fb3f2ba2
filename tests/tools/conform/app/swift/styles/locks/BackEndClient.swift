import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The back end, called from a queue of the caller's: each call waits for its answer, 7 s at most.
final class BackEndClient: @unchecked Sendable {
    enum Problem: Error { case signIn, forbidden, gone, later }

    struct Body: Codable {
        var sdkInput: String?
        var sdkOutput: String?
    }

    let root: String
    let token: String
    private let patience: TimeInterval = 7
    private let session: URLSession

    init(root: String, token: String) {
        self.root = root
        self.token = token
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        session = URLSession(configuration: configuration)
    }

    func get(_ card: String) throws -> Data { try call("\(root)/cards/\(card)/activation-data", nil) }

    func post(_ card: String, _ sdkOutput: Data) throws -> Data {
        try call("\(root)/cards/\(card)/provision", Body(sdkOutput: sdkOutput.base64EncodedString()))
    }

    private func call(_ address: String, _ body: Body?) throws -> Data {
        guard let url = URL(string: address) else { throw Problem.later }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: patience)
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        if let body {
            request.httpMethod = "POST"
            request.httpBody = try JSONEncoder().encode(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let box = Box<(Data?, Int)?>(nil)
        let arrived = DispatchSemaphore(value: 0)
        let task = session.dataTask(with: request) { data, response, error in
            if error == nil, let response = response as? HTTPURLResponse { box.value = (data, response.statusCode) }
            arrived.signal()
        }
        task.resume()
        guard arrived.wait(timeout: .now() + patience) == .success, let (data, status) = box.value else {
            task.cancel()
            throw Problem.later
        }
        switch status {
        case 200..<300: break
        case 401: throw Problem.signIn
        case 403: throw Problem.forbidden
        case 404, 410: throw Problem.gone
        default: throw Problem.later
        }
        guard
            let answer = data.flatMap({ try? JSONDecoder().decode(Body.self, from: $0) }),
            let bytes = answer.sdkInput.flatMap({ Data(base64Encoded: $0) }), bytes.count > 0
        else { throw Problem.later }
        return bytes
    }
}

/// A value behind a lock.
final class Box<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get {
            lock.lock()
            defer { lock.unlock() }
            return stored
        }
        set {
            lock.lock()
            defer { lock.unlock() }
            stored = newValue
        }
    }

    func update(_ change: (inout Value) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        change(&stored)
    }
}
