public import HTTPTypes
import Synchronization

/// An HTTP client that recovers: it waits out rate limits and lockouts, repeats what can be repeated safely, and says
/// what would help where nothing can be done.
///
/// ```swift
/// let client = RecoveringClient(transport: CurlTransport())
/// let response = try await client.send(HTTPRequest(url: "https://api.example.com/items"))
/// ```
public struct RecoveringClient: Sendable {
    /// Clock, randomness, shared state, events and the classifier of the client.
    public let runtime: Runtime

    private let pipeline: Next
    /// The layers that can tell whose credential they are going to attach.
    private let presenters: [any Middleware]
    private let transport: any HTTPTransport
    private let counter = CallCounter()

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - transport: What performs the attempts.
    ///   - runtime: Clock, randomness, shared state, events and the classifier.
    ///   - middlewares: The layers around the transport, the outermost first. Default: ``defaultMiddlewares``.
    public init(
        transport: any HTTPTransport,
        runtime: Runtime = Runtime(),
        @PipelineBuilder middlewares: () -> [any Middleware] = { RecoveringClient.defaultMiddlewares }
    ) {
        self.transport = transport
        self.runtime = runtime
        let stage = AttemptStage(transport: transport).next
        let attempt = Next { request, body, context in
            // The layers of the call itself are few and mostly none; only they are folded per attempt.
            guard !context.options.attemptLayers.isEmpty else {
                return try await stage(request, body: body, context: context)
            }
            let next = Self.fold(context.options.attemptLayers, around: stage)
            return try await next(request, body: body, context: context)
        }
        let layers = middlewares()
        self.presenters = layers.filter { $0 is any CredentialPresenting }
        self.pipeline = Self.fold(layers, around: attempt)
    }

    /// A deadline of 60 s, the default policies, and 30 s for an attempt.
    public static var defaultMiddlewares: [any Middleware] {
        [Deadline(.seconds(60)), Recovery(), AttemptTimeout(.seconds(30))]
    }

    /// Sends a request and returns the response that was accepted.
    ///
    /// - Parameters:
    ///   - request: The request, with scheme, authority and path.
    ///   - body: The request's body.
    ///   - options: What this call wants to be treated differently.
    /// - Returns: A response whose outcome is no failure.
    /// - Throws: ``RecoveryError`` when the call failed, with the last response and all that was tried, and with what a
    ///   layer, a store or the request's body has thrown as its cause; `CancellationError` as soon as the task is
    ///   cancelled. Nothing else.
    public func send(
        _ request: HTTPRequest,
        body: HTTPBody? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws -> Response {
        var options = options
        if let limit = Self.sendBy { options.sendBy = SendBy.earlier(options.sendBy, limit) }
        let record = CallRecord(callID: options.callID ?? counter.next())
        var context = CallContext(options: options, record: record, runtime: runtime)
        context.presenters = presenters
        let start = runtime.time.now
        let limits = [options.deadline, Self.timeLimit].compactMap { $0 }
        if let limit = limits.min() { context.deadline = start.advanced(by: max(limit, .zero)) }
        let failures = body.flatMap { $0.bytesInMemory == nil ? BodyFailures() : nil }
        do {
            let response = try await run(request, body: body?.noting { failures?.note($0) }, context: context)
            report(.ok, since: start, context: context)
            return response
        } catch is CancellationError {
            report(.cancelled, since: start, context: context)
            throw CancellationError()
        } catch {
            let error = RecoveryError(of: error, body: failures, context: context)
            context.emit(
                .givingUp(error.outcome, reason: error.reason, retryAfter: error.retryAfter, until: error.retryAt)
            )
            report(.failed, since: start, context: context)
            throw error
        }
    }

    /// How long calls may take that are made within work which is bounded as a whole; nil for no such bound.
    ///
    /// They learn of the bound, so that a wait that would not end within it is not begun: what is left is known to be
    /// unsent, instead of cut off in doubt.
    @TaskLocal package static var timeLimit: Duration?

    /// Until when calls may send that are made within work of which this is true as a whole; nil for no such bound.
    @TaskLocal package static var sendBy: SendBy?

    /// The longest single wait of calls that somebody could do without; nil for no bound but the client's own.
    ///
    /// Unlike ``timeLimit`` it cuts off no call that is under way.
    @TaskLocal package static var waitLimit: Duration?

    /// The events of all calls from now on.
    public var events: AsyncStream<RecoveryEvent> {
        runtime.events.stream()
    }

    /// Ends all transfers and frees what the transport holds; later calls fail.
    public func shutdown() async {
        await transport.shutdown()
    }

    private static func fold(_ middlewares: [any Middleware], around last: Next) -> Next {
        middlewares.reversed().reduce(last) { next, middleware in next.preceded(by: middleware) }
    }

    /// Runs the pipeline, and turns what it leaves as a failure into an error.
    private func run(_ request: HTTPRequest, body: HTTPBody?, context: CallContext) async throws -> Response {
        let failure: (outcome: Outcome, response: Response?)
        do {
            var response = try await pipeline(request, body: body, context: context)
            response.history = context.record.history
            guard response.outcome.isFailure else { return response }
            failure = (response.outcome, response)
        } catch let error as TransportError {
            failure = (context.outcome(of: error, for: request), nil)
        }
        throw RecoveryError(
            outcome: failure.outcome,
            reason: .notRecoverable,
            retryAfter: failure.outcome.statedWait,
            retryAt: failure.outcome.statedWait.map { runtime.time.wallTime.advanced(by: $0) },
            response: failure.response,
            history: context.record.history
        )
    }

    private func report(_ end: RecoveryEvent.End, since start: TimeSource.Instant, context: CallContext) {
        context.emit(
            .done(
                end,
                attempts: context.record.attempts,
                waited: context.record.history.waited,
                elapsed: start.duration(to: runtime.time.now)
            )
        )
    }
}

/// Numbers the calls of a client.
private final class CallCounter: Sendable {
    private let count = Atomic(0)

    func next() -> Int {
        count.add(1, ordering: .relaxed).newValue
    }
}
