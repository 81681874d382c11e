import CurlTransport
import HTTPRecovery
import HTTPTypes

/// Calls a service as its callers do, and recovers from nothing.
public struct ServiceCaller: Sendable {
    /// What a service has answered.
    public struct Answer: Sendable {
        /// The status.
        public let status: Int
        /// The body.
        public let text: String
    }

    private let client = RecoveringClient(transport: CurlTransport()) {}

    /// Creates a caller, with connections of its own.
    public init() {}

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - url: Where to.
    ///   - json: The body of a `POST`; nil makes it a `GET`.
    /// - Throws: `TransportError` if there is no answer.
    public func call(_ url: String, json: String? = nil) async throws -> Answer {
        var request = try HTTPRequest(url: url)
        if json != nil {
            request.method = .post
            request.headerFields[.contentType] = "application/json"
        }
        let response: RecoveredResponse
        do {
            response = try await client.send(request, body: json.map { MessageBody($0) })
        } catch let error as RecoveryError {
            guard let failed = error.response else { throw error.outcome.transportError ?? error }
            response = failed
        }
        let bytes = try await response.body.collect(upTo: 1 << 24)
        return Answer(status: response.status.code, text: String(decoding: bytes, as: UTF8.self))
    }
}
