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

    /// The request's query without its question mark, for telling what the request was for; nil if it has none.
    ///
    /// It may hold secrets, such as a one-time token: no description shows it, and a classifier puts nothing of it into
    /// an outcome.
    public var query: String?

    /// The sort of credential that was presented; nil when none was.
    public var presented: Outcome.CredentialKind?

    /// What came back.
    public var result: Result

    /// The local wall time when it came back.
    public var now: Timestamp

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - path: The request's path; a query that stands in it counts as the query, and a fragment is left out.
    ///   - query: The query without its question mark; nil for the one in the path, if any.
    ///   - presented: The sort of credential that was presented; nil when none was.
    ///   - result: What came back.
    ///   - now: The local wall time when it came back.
    public init(
        method: HTTPRequest.Method,
        path: String,
        query: String? = nil,
        presented: Outcome.CredentialKind? = nil,
        result: Result,
        now: Timestamp
    ) {
        self.method = method
        // By bytes: a mark behind the question mark would hide it among the characters.
        guard path.utf8.contains(where: { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "?") }) else {
            (self.path, self.query, self.presented, self.result, self.now) = (path, query, presented, result, now)
            return
        }
        let target = path.utf8.prefix { $0 != UInt8(ascii: "#") }
        let mark = target.firstIndex(of: UInt8(ascii: "?"))
        self.path = String(decoding: target[..<(mark ?? target.endIndex)], as: UTF8.self)
        self.query = query ?? mark.map { String(decoding: target[target.index(after: $0)...], as: UTF8.self) }
        self.presented = presented
        self.result = result
        self.now = now
    }
}
