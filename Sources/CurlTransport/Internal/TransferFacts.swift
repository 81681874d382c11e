/// What is known about a transfer when it has ended; the verdict hangs on these alone.
struct TransferFacts: Sendable, Hashable {
    /// Why the transport itself ended a transfer.
    enum OwnReason: Sendable, Hashable {
        /// The header section grew past the limit.
        case headersTooLarge
        /// The header section makes it no response.
        case noResponse(HeadReception.Defect)
        /// The request body's stream threw, or brought another number of bytes than it announced.
        case requestBodyFailed
        /// The request could not leave before its send limit.
        case sendLimitPassed
        /// The body grew past the limit, in bytes, when it was decompressed.
        case expandsTooFar(limit: Int)
        /// A proxy's answer to CONNECT does not end.
        case endlessProxyAnswer
    }

    /// libcurl's result.
    var code: Int
    /// How often libcurl was let through to put the request on a connection.
    var wireAttempts = 0
    /// Whether libcurl wanted to send the request a second time and was stopped.
    var isVetoed = false
    /// Whether the status line of a final (not 1xx) response has come.
    var sawStatus = false
    /// Whether the empty line after the header section has come.
    var sawHead = false
    /// Whether the connection that was to end the body ended without TLS's word for it (close_notify), as it does when
    /// somebody on the way cuts it.
    var isEndUnannounced = false
    /// Whether it is proven that the HTTP/2 server did not process the stream.
    var isRefused = false
    /// Whether a proxy has refused to lead on, and would again: its user is not the right one, or may not go there.
    var isRefusedByProxy = false
    /// Why the transport itself stopped the transfer, if it did.
    var ownReason: OwnReason?
    /// libcurl's own text about the failure.
    var detail = ""

    /// Whether a line behind the chunks is longer than libcurl takes; its code differs by the version (56, 100).
    var hasLongTrailer: Bool { sawHead && detail.hasPrefix("Out of memory in chunked-encoding") }

    /// Whether libcurl itself, from 8.14 on, has refused a transfer coding.
    var hasTransferCoding: Bool {
        !sawHead && (detail.hasPrefix("Unsolicited Transfer-Encoding") || detail.hasPrefix("A Transfer-Encoding"))
    }
}
