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
    public var metrics: History.AttemptMetrics?

    /// How long the last attempt took, where nothing was measured.
    public var elapsed: Duration?

    /// The URL that the call began with, as it was written; nil if it is that of the last request.
    public var asked: String?

    /// How many redirects were followed.
    public var redirects = 0

    /// How long these took.
    public var redirected = Duration.zero

    /// Where the last answer redirects to; empty if it does not.
    public var redirectURL = ""

    /// The `Referer` of the last request; empty without one.
    public var referer = ""

    /// The bytes of all heads that were received, as they would stand in HTTP/1.1.
    public var headBytes = 0

    /// The file that the body went to; empty for none.
    public var fileName = ""

    /// Which URL it is, from 0.
    public var number = 0

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
