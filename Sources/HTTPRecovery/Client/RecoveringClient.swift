public import HTTPTypes

/// An HTTP client that recovers: it waits out rate limits and lockouts, repeats what can be repeated safely, and says
/// what would help where nothing can be done.
///
/// ```swift
/// let client = RecoveringClient(transport: CurlTransport())
/// let response = try await client.send(HTTPRequest(url: "https://api.example.com/items"))
/// ```
public struct RecoveringClient: Sendable {
    /// Clock, randomness, shared state, events and the classifier of the client.
    public var runtime: Runtime { surroundings.runtime }

    let surroundings: Surroundings
    private let pipeline: Next
    private let transport: any HTTPTransport
    private let isStraight: Bool
    let openCalls: OpenCalls
    /// The operation that the calls belong to; nil if each stands for itself.
    var scope: RecoveryOperation? {
        get { operation.optional }
        set { operation = BoxedIfPresent(newValue) }
    }

    private var operation = BoxedIfPresent<RecoveryOperation>()
    /// The longest single wait of the calls; nil for no bound but those of layers and operation.
    var longestWait: Duration?

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - transport: What performs the attempts.
    ///   - runtime: Clock, randomness, shared state, events and the classifier.
    ///   - middlewares: The layers around the transport, the outermost first. Default: ``defaultMiddlewares``. What
    ///     cannot work ends the program with a sentence that says why: an order (``ClientLayer/place``), times that contradict
    ///     each other, numbers out of range (``ClientLayer/problem(among:)``).
    public init(
        transport: any HTTPTransport,
        runtime: Runtime = Runtime(),
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = { RecoveringClient.defaultMiddlewares }
    ) {
        self.transport = transport.enforcesTimeouts ? transport : TimedTransport(transport, time: runtime.time)
        let layers = middlewares()
        // A release build tells the sentence of this one alone.
        if let problem = CallContext.LayerPlace.problem(in: layers) { fatalError(problem) }
        self.surroundings = Surroundings(runtime, presenters: layers.filter { $0 is any CredentialPresenting })
        self.openCalls = surroundings.openCalls
        self.pipeline = Next(AttemptStage(transport: self.transport)).preceded(by: layers)
        self.isStraight = pipeline.isStraight
    }

    /// A deadline of 60 s, the default policies, and 30 s for an attempt.
    public static var defaultMiddlewares: [any ClientLayer] {
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
        body: MessageBody? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws -> RecoveredResponse {
        let call = try begin(request, body, options)
        do {
            var response =
                if call.notesBody {
                    try await run(request, noting: body, call)
                } else {
                    try await pipeline.run(request, body: body, adjusted: call.context)
                }
            try call.accept(&response)
            end(call, with: &response)
            return response
        } catch {
            let error = call.error(for: error, request)
            note(call)
            openCalls.leave()
            throw error
        }
    }

    /// Runs the pipeline with a body that is a stream; apart, as most calls have none, and wait with what they hold.
    @inline(never)
    private func run(_ request: HTTPRequest, noting body: MessageBody?, _ call: OpenCall) async throws
        -> RecoveredResponse
    {
        try await pipeline.run(request, body: call.noting(body), adjusted: call.context)
    }

    /// Takes note of a call that begins.
    ///
    /// - Throws: `RecoveryError` if the client takes none any more.
    @inline(never)
    private func begin(_ request: HTTPRequest, _ body: MessageBody?, _ options: RequestOptions) throws -> OpenCall {
        let isTaken = operation.isEmpty ? openCalls.enter() : openCalls.enter(within: scope)
        guard isTaken else { throw Self.refusal(Self.shutDown, context(of: request, options)) }
        var call = OpenCall(context(of: request, options), body, isPart: !operation.isEmpty)
        pipeline.adjust(&call.context)
        call.context.isStraight = isStraight && !options.hasAttemptLayers
        return call
    }

    /// Takes note of a call that has its response: it has ended unless that has a body to be read yet.
    @inline(never)
    private func end(_ call: OpenCall, with response: inout RecoveredResponse) {
        note(call)
        if response.body.isInMemory {
            openCalls.leave()
        } else {
            response.body = response.body.holding(OpenCalls.Place(in: openCalls))
        }
    }

    /// What a call within an operation comes to is an inner affair of that.
    @inline(never)
    private func note(_ call: OpenCall) {
        if !operation.isEmpty { scope?.context.record.add(call.context.record) }
    }

    /// What accompanies a call, within the bounds of the operation that it belongs to.
    private func context(of request: HTTPRequest, _ options: RequestOptions) -> CallContext {
        guard !operation.isEmpty, let scope else {
            let number = options.callID ?? surroundings.runtime.numbers.next()
            var context = CallContext(CallContext.Record(callID: number, of: request, options, surroundings))
            if let longestWait { context.longestWait = longestWait }
            if let limit = options.deadline { context.bound(to: PackedDuration(max(limit, .zero))) }
            return context
        }
        var options = options
        options.sendBy = RequestOptions.SendBy.earlier(options.sendBy, scope.sendBy)
        options.label = options.label ?? scope.context.options.label
        if !scope.admissions.isEmpty { options.admissions += scope.admissions }
        if let outer = scope.context.options.observer {
            let own = options.observer
            options.observer = { event in
                own?(event)
                outer(event)
            }
        }
        var context = CallContext(CallContext.Record(within: scope.context.record, of: request, options, surroundings))
        context.repetition = scope.repetition
        context.longestWait = [longestWait, scope.context.longestWait].compactMap { $0 }.min()
        let limit = options.deadline.map { context.record.start.advanced(by: max($0, .zero)) }
        context.deadline = [limit, scope.context.deadline].compactMap { $0 }.min()
        return context
    }

    /// The events of all calls from now on.
    public var events: AsyncStream<RecoveryEvent> {
        runtime.events.stream()
    }

    /// Ends all transfers and frees what the transport holds; later calls fail.
    ///
    /// What is under way is cut off, waits between attempts too (``History/StopReason/clientShutDown``); ``drain(within:)``
    /// lets it end.
    public func shutdown() async {
        _ = openCalls.close()
        surroundings.end.land(.success(()))
        await transport.shutdown()
    }

    /// Takes no more calls and operations, waits for those that are under way, and shuts the client down.
    ///
    /// A service that ends does it in this order: it stops to take requests of its own, lets renewals end and be stored,
    /// which need their client (`TokenManager.finish()` in AuthRecovery), drains its clients, and then closes the store
    /// (``SharedState/shutdown()``).
    ///
    /// A call has ended when the body of its response has been read to its end, or nobody has it any more: one that is kept
    /// and not read is waited for. So is a renewal that a call has begun, until what it brings is stored, though nobody waits
    /// for it any more. Clients that share a transport end with the first that shuts it down: that is the one which the others
    /// work for.
    ///
    /// - Parameter limit: How long to wait; what is under way then is cut off, a body that is read too.
    /// - Returns: Whether all came to their end by themselves; false too if the waiting task is cancelled, which cuts
    ///   off what is under way.
    @discardableResult
    public func drain(within limit: Duration) async -> Bool {
        var isIdle = true
        if let idle = openCalls.close() {
            do {
                try await runtime.time.withTimeout(until: runtime.time.now.advanced(by: max(limit, .zero))) {
                    try await idle.value
                }
            } catch {
                isIdle = false
            }
        }
        await shutdown()
        return isIdle
    }

    /// What a call comes to that the client does not take any more.
    static var shutDown: Outcome {
        var outcome = Outcome(.transport, processed: .no)
        outcome.transportError = TransportError(.shutDown, .neverSent, message: "the client has been shut down")
        return outcome
    }

    /// Tells of a call or an operation that is not begun.
    ///
    /// - Returns: The error to throw.
    static func refusal(_ outcome: Outcome, _ context: CallContext) -> RecoveryError {
        let error = RecoveryError(after: outcome, reason: .notRecoverable, needed: nil, response: nil, context: context)
        context.report(error)
        return error
    }
}

extension RecoveringClient: CustomStringConvertible {
    /// The layers around the transport, the outermost first.
    var layers: [any ClientLayer] {
        pipeline.layers.flatMap { ($0 as? ReloadableRecovery)?.layers ?? [$0] }
    }

    /// The layers, the outermost first, with what each does and within which bounds, and the transport.
    public var description: String {
        (layers.map(\.summary) + ["transport \(transport.name)"]).joined(separator: " → ")
    }
}
