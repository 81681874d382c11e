/// What proves that an HTTP/2 server did not process a stream.
///
/// libcurl hides both ways a server says so. A stream refused on a new connection is named in its log, and from version
/// 8.19 on any refused stream. Before that, on a reused connection (where libcurl takes any early end for a stale
/// connection) the proof is by exclusion, checked against the sources of 8.14: the stream ended without a byte and without
/// a logged failure while the connection lives on; only `RST_STREAM` with `REFUSED_STREAM` does that. In 7.88 so does a
/// frame that HTTP/2 does not allow, of which it says nothing: there nothing is proven. A `GOAWAY` is logged with its last
/// stream (RFC 9113, section 6.8).
struct RefusalEvidence {
    /// The stream's identifier, as logged.
    var stream: Int?
    /// The loop's count of logged failures when the request went out.
    var failuresBefore = 0
    /// Whether the refusal is proven.
    var isProven = false
    /// Whether the server has sent what HTTP/2 does not allow.
    var hasInvalidFrame = false
    /// What the server has chosen, if the connection was made for this request.
    var negotiatesHTTP2: Bool?

    /// Only this version is known to behave as described above: Debian 13's.
    ///
    /// In 8.14 a stream of a reused connection is tried again only after `CURLE_RECV_ERROR` or, when the request could
    /// not be written at all, `CURLE_SEND_ERROR`. All that leads to these is logged as a failure or ends the
    /// connection, except a refused stream; a closed connection is `CURLE_HTTP2` and not tried again.
    static let canExclude: Bool = Libcurl.number >> 8 == 0x080e
}
