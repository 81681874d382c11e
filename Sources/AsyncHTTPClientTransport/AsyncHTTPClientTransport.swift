#if AsyncHTTPClient
import AsyncHTTPClient
public import HTTPRecovery
public import HTTPTypes
import NIOCore

/// A transport on AsyncHTTPClient, for programs that run on SwiftNIO already.
///
/// It never sends a request twice, and its errors say whether the server may have seen the request: handlers in the
/// client's pipelines see each request leave and each response begin (see <doc:AsyncHTTPClientTransport>). The
/// attempt's timeout covers waiting for a free connection, the transfer and the response body.
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// What the transport was set up with.
    public let configuration: Configuration

    private let pools: [LoopPool]

    /// Creates a transport on the event loops of the configuration; it starts no thread of its own.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let normalized = configuration.normalized()
        let group = configuration.eventLoopGroup ?? HTTPClient.defaultEventLoopGroup
        self.pools = group.makeIterator().map { LoopPool(loop: $0, configuration: normalized) }
    }

    deinit {
        for pool in pools { pool.abandon() }
    }

    /// `ahc`.
    public var name: String { "ahc" }

    /// The event loop ends a transfer when its time is over, its response body included.
    public var enforcesTimeouts: Bool { true }

    /// A handler next to the encoder looks at the limit when a request is about to be written on a connection.
    public var keepsSendLimits: Bool { true }

    /// Sends the request and returns when the head of the response has arrived; the body streams after it.
    ///
    /// Not every cut is visible: a body that ends with the connection (no Content-Length, not chunked) looks complete
    /// wherever a connection without TLS ends.
    ///
    /// - Throws: `TransportError`, or `CancellationError` as soon as the task is cancelled.
    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        try Task.checkCancellation()
        let encoded = try EncodedRequest(request, body: body, decompresses: configuration.decompresses)
        guard !pools.isEmpty else {
            throw TransportError(.misconfigured, .neverSent, message: "the group has no event loop")
        }
        let index = pools.count == 1 ? 0 : Int(encoded.origin.hashValue.magnitude % UInt(pools.count))
        let transfer = Transfer(request: encoded, options: options, pool: pools[index])
        var head = try await transfer.head()
        let hasBody = request.method != .head && head.status.code != 204 && head.status.code != 304
        if encoded.decodes, hasBody, ResponseHead.isDecoded(head) {
            head.headerFields[.contentEncoding] = nil
            head.headerFields[.contentLength] = nil
        }
        let stream = ResponseStream(hold: .init(transfer: transfer, transport: self))
        let length = hasBody ? ResponseHead.contentLength(of: head) : 0
        // A body of a stated length has no trailers on HTTP/1, and seldom on HTTP/2.
        let report = transfer.meter != nil || length == nil ? transfer : nil
        return TransportResponse(head: head, body: MessageBody(once: stream, length: length), report: report)
    }

    /// Ends all transfers, and returns when the connections are closed; the event loops go on.
    ///
    /// A connection that is still being made is waited for no longer than a second; the client gives it up after the
    /// ``Configuration/connectTimeout``.
    public func shutdown() async {
        for pool in pools { await pool.shutDown() }
    }
}
#endif
