public enum OSLogPrivacy { case `public` }

public struct OSLogMessage: ExpressibleByStringInterpolation {
    public struct StringInterpolation: StringInterpolationProtocol {
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ text: String) {}
        public mutating func appendInterpolation(_ text: String, privacy: OSLogPrivacy) {}
    }

    public init(stringLiteral: String) {}
    public init(stringInterpolation: StringInterpolation) {}
}

public struct Logger: Sendable {
    public init(subsystem: String, category: String) {}
    public func notice(_ message: OSLogMessage) {}
}
