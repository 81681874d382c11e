/// Why an attempt brought no complete response, and whether the server may have seen the request.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How far the request may have come.
    public enum Certainty: String, Sendable, Hashable, CaseIterable {
        /// Not a byte of the request left this machine for the server: resending is always safe.
        case neverSent = "never_sent"
        /// The server has said that it did not process the request (HTTP/2 `REFUSED_STREAM`, RFC 9113 section 8.7):
        /// resending is always safe.
        case notProcessed = "not_processed"
        /// The request went out, wholly or in part, and no answer came: the server may have processed it.
        case unknown
        /// A response began, so the server has processed the request; the response is incomplete.
        case answered
    }

    /// What went wrong, as a stable word of low cardinality.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The word as it appears in events and metrics.
        public let rawValue: String

        /// Creates a code from its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The host's (or proxy's) name has no address.
        public static let cannotResolve = Code(rawValue: "cannot_resolve")
        /// No connection could be made.
        public static let cannotConnect = Code(rawValue: "cannot_connect")
        /// The TLS handshake failed for another reason than the certificate.
        public static let tlsFailed = Code(rawValue: "tls_failed")
        /// The server's certificate is not trusted.
        public static let certificateRejected = Code(rawValue: "certificate_rejected")
        /// The connection was closed or reset.
        public static let connectionLost = Code(rawValue: "connection_lost")
        /// The server refused the HTTP/2 stream unprocessed.
        public static let streamRefused = Code(rawValue: "stream_refused")
        /// The attempt's time ran out.
        public static let timedOut = Code(rawValue: "timed_out")
        /// The request could not leave before the moment after which it must not be sent.
        public static let sendLimitPassed = Code(rawValue: "send_limit_passed")
        /// What came back is not HTTP.
        public static let notHTTP = Code(rawValue: "not_http")
        /// The response ended before its announced end.
        public static let truncated = Code(rawValue: "truncated")
        /// The response body's content coding is broken.
        public static let badContentEncoding = Code(rawValue: "bad_content_encoding")
        /// The response's header section is larger than the transport accepts.
        public static let headersTooLarge = Code(rawValue: "headers_too_large")
        /// The response's body is larger than the caller accepts.
        public static let bodyTooLarge = Code(rawValue: "body_too_large")
        /// The response's body could not be written where the caller wants it.
        public static let outputFailed = Code(rawValue: "output_failed")
        /// The request's body could not be read.
        public static let requestBodyFailed = Code(rawValue: "request_body_failed")
        /// The request cannot be sent as it is: no authority, an unsupported scheme, an illegal character.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The transport is set up wrongly: a certificate file that is missing, an unknown proxy scheme.
        public static let misconfigured = Code(rawValue: "misconfigured")
        /// The transport has been shut down.
        public static let shutDown = Code(rawValue: "shut_down")
        /// The machine has run out of memory, file descriptors or threads.
        public static let outOfResources = Code(rawValue: "out_of_resources")
        /// Anything else.
        public static let other = Code(rawValue: "other")
    }

    /// What went wrong.
    public var code: Code

    /// How far the request may have come.
    public var certainty: Certainty

    /// A sentence about the cause; it holds no header, query or body of the request.
    public var message: String

    /// Whether the same request may succeed later without a change at this side.
    public var isTransient: Bool

    /// What the transport has measured of the attempt until it failed; nil, the default, if it does not measure.
    public var metrics: History.AttemptMetrics? {
        get { kept.optional }
        set { kept = BoxedIfPresent(newValue) }
    }

    private var kept = BoxedIfPresent<History.AttemptMetrics>()

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - certainty: How far the request may have come.
    ///   - message: A sentence about the cause that is safe to log.
    ///   - isTransient: Whether trying again can help; by default all but certificate, request and configuration
    ///     errors and requests that are too late can.
    public init(_ code: Code, _ certainty: Certainty, message: String = "", isTransient: Bool? = nil) {
        self.code = code
        self.certainty = certainty
        self.message = message
        self.isTransient = isTransient ?? !Self.permanent.contains(code)
    }

    private static let permanent: Set<Code> = [
        .certificateRejected, .invalidRequest, .misconfigured, .shutDown, .headersTooLarge, .requestBodyFailed,
        .sendLimitPassed, .bodyTooLarge, .outputFailed,
    ]

    /// The code, the certainty and the message, safe to log.
    public var description: String {
        let detail = message.isEmpty ? "" : ": \(message)"
        return "\(code.rawValue) (\(certainty.rawValue))\(detail)"
    }
}
