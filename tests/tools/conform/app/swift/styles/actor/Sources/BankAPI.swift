import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The bank's own back end. Two calls; both give bytes.
actor BankAPI {
    enum Failure: Error, Equatable {
        case signedOut
        case notAllowed
        case unavailable
    }

    private struct Answer: Decodable { let sdkInput: String }
    private struct Question: Encodable { let sdkOutput: String }

    private let address: URL
    private let token: String
    private let session: URLSession
    private let limit: Duration

    init(address: URL, token: String, limit: Duration = .seconds(9)) {
        let settings = URLSessionConfiguration.ephemeral
        settings.timeoutIntervalForResource = 8
        settings.requestCachePolicy = .reloadIgnoringLocalCacheData
        settings.urlCache = nil
        self.address = address
        self.token = token
        self.limit = limit
        session = URLSession(configuration: settings)
    }

    func activationData(for card: String) async throws -> Data {
        try await sdkInput(of: request(card, "activation-data"))
    }

    func exchange(_ sdkOutput: Data, for card: String) async throws -> Data {
        var request = request(card, "provision")
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(Question(sdkOutput: sdkOutput.base64EncodedString()))
        return try await sdkInput(of: request)
    }

    private func request(_ card: String, _ action: String) -> URLRequest {
        var request = URLRequest(
            url: address.appendingPathComponent("cards").appendingPathComponent(card).appendingPathComponent(action))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        return request
    }

    private func sdkInput(of request: URLRequest) async throws -> Data {
        let (body, response) = try await answer(to: request)
        switch (response as? HTTPURLResponse)?.statusCode {
        case 200, 201: break
        case 401: throw Failure.signedOut
        case 403, 404: throw Failure.notAllowed
        default: throw Failure.unavailable
        }
        guard
            let answer = try? JSONDecoder().decode(Answer.self, from: body),
            let bytes = Data(base64Encoded: answer.sdkInput), !bytes.isEmpty
        else { throw Failure.unavailable }
        return bytes
    }

    /// The whole answer within the limit, also when it trickles in.
    private func answer(to request: URLRequest) async throws -> (Data, URLResponse) {
        let (session, limit) = (session, limit)
        do {
            return try await withThrowingTaskGroup(of: (Data, URLResponse).self) { group in
                group.addTask { try await session.data(for: request) }
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw Failure.unavailable
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw Failure.unavailable }
                return first
            }
        } catch {
            throw Failure.unavailable
        }
    }
}
