public import HTTPRecovery
public import HTTPTypes

/// What is known about a call at its end, for ``WriteOutFormat``.
public struct WriteOutValues: Sendable {
    /// The URL that was asked for last.
    public var url: String

    /// The method of the last request.
    public var method: String

    /// The scheme of the URL.
    public var scheme: String

    /// The head of the last answer; nil without one.
    public var head: HTTPResponse?

    /// What was measured of the last attempt; nil if nothing was.
    public var metrics: TransportResponse.Metrics?

    /// How long the last attempt took, where nothing was measured.
    public var elapsed: Duration?

    /// How often the request was sent again.
    public var retries = 0

    /// What the call means for the program.
    public var exitCode: Int32 = 0

    /// A sentence about the failure; empty if there is none.
    public var errorMessage = ""

    /// Creates values of a request about which nothing else is known.
    public init(url: String, method: String, scheme: String) {
        self.url = url
        self.method = method
        self.scheme = scheme
    }
}
