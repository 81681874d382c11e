public import HTTPTypes

/// One request and what came of it, as a classifier sees it: plain values, no I/O.
public struct Exchange: Sendable {
    /// What came back.
    public enum Result: Sendable {
        /// A response with the bytes of its body, as far as they were read.
        case response(HTTPResponse, body: [UInt8])
        /// No (complete) response.
        case failure(TransportError)
    }

    /// The request's method.
    public var method: HTTPRequest.Method

    /// The request's path without the query.
    public var path: String

    /// The sort of credential that was presented; nil when none was.
    public var presented: Outcome.CredentialKind?

    /// What came back.
    public var result: Result

    /// The local wall time when it came back.
    public var now: Timestamp

    /// Creates an exchange.
    public init(
        method: HTTPRequest.Method,
        path: String,
        presented: Outcome.CredentialKind? = nil,
        result: Result,
        now: Timestamp
    ) {
        self.method = method
        self.path = path
        self.presented = presented
        self.result = result
        self.now = now
    }
}
