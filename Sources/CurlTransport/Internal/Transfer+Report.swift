import HTTPRecovery
import HTTPTypes

extension Transfer: TransportResponse.Report {
    var metrics: History.AttemptMetrics? { meter?.metrics }

    var trailers: HTTPFields? {
        let bytes: [UInt8] = shared.withLock { shared in
            // Who has not read the last byte of the body has not come to what is behind it.
            guard case .complete = shared.ending, shared.received.isEmpty else { return [] }
            return shared.trailers
        }
        if bytes.isEmpty { return nil }
        // They are lines like those of a head; only the first is missing.
        let fields = ResponseHead.parse(Array("HTTP/1.1 200\u{20}\r\n".utf8) + bytes)?.headerFields
        return fields.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether somebody may ask the transfer for more than head and body.
    func reports(_ received: Head, _ head: HTTPResponse) -> Bool {
        if meter != nil { return true }
        if received.completeBody != nil { return received.hasTrailers }
        // A body of a stated length has no trailers on HTTP/1, and seldom on HTTP/2.
        return ResponseHead.contentLength(of: head) == nil
    }
}
