import HTTPRecovery
import HTTPTypes

extension Transfer: TransportResponse.Report {
    var metrics: History.AttemptMetrics? { meter?.metrics }

    var trailers: HTTPFields? {
        shared.withLock { shared in
            // Who has not read the last byte of the body has not come to what is behind it.
            guard case .complete = shared.ending, shared.received.isEmpty else { return nil }
            return shared.trailers
        }
    }

    /// Whether somebody may ask the transfer for more than head and body.
    func reports(_ received: Head, _ head: HTTPResponse) -> Bool {
        if meter != nil { return true }
        if received.completeBody != nil { return received.hasTrailers }
        // A body of a stated length has no trailers on HTTP/1, and seldom on HTTP/2.
        return ResponseHead.contentLength(of: head) == nil
    }
}
