#if AsyncHTTPClient
import HTTPRecovery
import HTTPTypes

extension Transfer: TransportResponse.Report {
    var metrics: History.AttemptMetrics? { meter?.metrics }

    var trailers: HTTPFields? {
        let fields: HTTPFields = shared.withLock { shared in
            // Who has not read the last byte of the body has not come to what is behind it.
            guard case .complete = shared.ending, shared.received.isEmpty else { return [:] }
            return shared.trailers
        }
        return fields.isEmpty ? nil : fields
    }
}
#endif
