import CCurl
public import HTTPRecovery
public import HTTPTypes

/// A transport on libcurl's multi interface: one event-loop thread, no thread per request.
///
/// It never sends a request twice, although libcurl would (see <doc:CurlTransport>), and its errors say whether the
/// server may have seen the request. The attempt's timeout covers waiting for a free connection, the transfer and the
/// response body.
public final class CurlTransport: HTTPTransport {
    /// What the transport was set up with.
    public let configuration: Configuration

    private let loops: [EventLoop]
    /// What is wrong with the configuration: nothing can be sent with it.
    private let problem: TransportError?

    /// Creates a transport and starts its threads.
    public init(configuration: Configuration = Configuration()) {
        _ = Self.globalState
        self.configuration = configuration
        let normalized = configuration.normalized()
        self.problem = SharedOptions.problem(of: normalized)
        // If the system has no thread or descriptor left there are fewer loops; with none, `send` throws.
        self.loops = (0..<normalized.loops).compactMap { _ in EventLoop(configuration: normalized) }
    }

    deinit {
        for loop in loops { loop.abandon() }
    }

    /// `curl`.
    public var name: String { "curl" }

    /// The loop ends a transfer when its time is over.
    public var enforcesTimeouts: Bool { true }

    /// The loop looks at the limit when libcurl is about to write the request on a connection, new or used, HTTP/1 or
    /// HTTP/2.
    public var keepsSendLimits: Bool { true }

    /// An executor on the transport's first loop, for tasks that send many requests.
    ///
    /// A task that runs there needs no thread switch per request, which saves up to a tenth of the CPU time. Work
    /// that blocks or computes for long stalls every transfer; leave such work to the default executor.
    public var taskExecutor: (any TaskExecutor)? { loops.first }

    /// Sends the request and returns when the head of the response has arrived; the body streams after it.
    ///
    /// Not every cut is visible: a body that ends with the connection (no Content-Length, not chunked) looks complete
    /// wherever the connection ends; over TLS its announced end tells.
    ///
    /// - Throws: `TransportError`, or `CancellationError` as soon as the task is cancelled.
    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        let transfer = try begin(request, body, options)
        try await transfer.submit()
        return try response(of: transfer, to: request.method)
    }

    // What does not wait is not inlined: a request in flight would hold the frames of all of it.

    @inline(never)
    private func begin(_ request: HTTPRequest, _ body: MessageBody?, _ options: AttemptOptions) throws -> Transfer {
        try Task.checkCancellation()
        guard configuration.httpVersion.mayBeAskedFor else { throw TransportError.unavailableVersion }
        let encoded = try EncodedRequest(request, body: body, decompresses: configuration.decompresses)
        if let problem { throw problem }
        guard !loops.isEmpty else {
            throw TransportError(.outOfResources, .neverSent, message: "the event loop could not be started")
        }
        let index = loops.count == 1 ? 0 : Int(encoded.origin.hashValue.magnitude % UInt(loops.count))
        let transfer = Transfer(
            request: consume encoded,
            deadline: options.timeout.map(Monotonic.deadline(after:)) ?? Monotonic.never,
            sendLimit: options.sendLimit,
            isOnNewConnection: options.isOnNewConnection,
            awaitedBytes: Int(clamping: options.awaitedBytes),
            meter: configuration.reportsMetrics ? TransferMeter() : nil,
            loop: loops[index]
        )
        transfer.startUpload()
        return transfer
    }

    @inline(never)
    private func response(of transfer: Transfer, to method: HTTPRequest.Method) throws -> TransportResponse {
        guard let received = transfer.takeHead() else { throw TransportError.shutDown }
        var head = received.response
        if transfer.request.decodes, head.headerFields.contains(.contentEncoding), method != .head {
            head.headerFields[.contentEncoding] = nil
            head.headerFields[.contentLength] = nil
        }
        let report = transfer.reports(received, head) ? transfer : nil
        if let bytes = received.completeBody {
            return TransportResponse(head: head, body: bytes.isEmpty ? .empty : MessageBody(bytes), report: report)
        }
        let stream = ResponseStream(hold: .init(transfer: transfer, transport: self))
        let hasBody = method != .head && head.status.code != 204 && head.status.code != 304
        let length = hasBody ? ResponseHead.contentLength(of: head) : 0
        return TransportResponse(head: head, body: MessageBody(once: stream, length: length), report: report)
    }

    /// Ends all transfers, and returns when the threads have ended and their descriptors are closed.
    ///
    /// Of several callers at a time one waits for the threads themselves, the others until they have done their last work.
    public func shutdown() async {
        for loop in loops { await loop.stop() }
    }

    /// The version of the libcurl in use, such as `8.14.1`: the system's, which may be newer than the one that this
    /// was compiled with.
    public static var libcurlVersion: String { Libcurl.version }

    /// libcurl's own state, made once, before any thread uses it.
    static let globalState: Bool = {
        defer { ProcessEnd.comesBeforeThatOfLibraries() }
        return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
    }()
}
