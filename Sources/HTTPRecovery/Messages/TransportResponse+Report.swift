public import HTTPTypes

extension TransportResponse {
    /// What a transport learns about an attempt beside head and body; it grows until the body has ended.
    public protocol Report: AnyObject, Sendable {
        /// The fields that came after the body (RFC 9110, section 6.5); nil before the body was read to its end, and if
        /// none came.
        var trailers: HTTPFields? { get }

        /// What the transport has measured until now; nil if it does not measure.
        var metrics: History.AttemptMetrics? { get }
    }
}

extension TransportResponse {
    /// The fields that came after the body; nil before the body was read to its end, if none came, and from a transport
    /// that does not keep them.
    ///
    /// Who gets them has to check them like any other field: what a server may not put there (a length, a credential)
    /// is not left out.
    public var trailers: HTTPFields? { report?.trailers }

    /// What the transport has measured until now; nil if it does not measure.
    ///
    /// ``History/AttemptMetrics/total`` and the counts of bytes are final when the body has ended.
    public var metrics: History.AttemptMetrics? { report?.metrics }
}

extension RecoveredResponse {
    /// The fields that came after the body; nil before the body was read to its end, if none came, and from a transport
    /// that does not keep them.
    ///
    /// Who gets them has to check them like any other field: what a server may not put there (a length, a credential)
    /// is not left out.
    public var trailers: HTTPFields? { report?.trailers }

    /// What the transport has measured about the attempt that brought the response, until now; nil if it does not
    /// measure.
    ///
    /// ``History/AttemptMetrics/total`` and the counts of bytes are final when the body has ended.
    public var metrics: History.AttemptMetrics? { report?.metrics }
}
