public import HTTPTypes

extension RecoveringClient {
    /// Makes attempts fail, late or otherwise on purpose: to see in production, for a share of it, that a program bears it.
    ///
    /// It stands inside the engine and sees attempts, which recover as from a real failure. Nothing happens while
    /// ``isEnabled`` says so, as at first.
    ///
    /// ```swift
    /// let chaos = RecoveringClient.Chaos([
    ///     .init(rate: 0.01, .latency(.seconds(2))), .init(rate: 0.005, .outcome(HTTPResponse(status: 503))),
    /// ])
    /// let client = RecoveringClient(transport: transport) {
    ///     Recovery()
    ///     chaos
    /// }
    /// chaos.isEnabled = true
    /// ```
    public final class Chaos: ClientLayer {
        /// What is done to an attempt.
        @nonexhaustive public enum Injection: Sendable {
            /// It goes out late.
            case latency(Duration)
            /// It does not go out, and ends with the error.
            case fault(TransportError)
            /// It does not go out, and is answered.
            case outcome(HTTPResponse, body: MessageBody = .empty)
            /// Something is done before it goes out; what it throws, the attempt ends with.
            case behavior(@Sendable (HTTPRequest) async throws -> Void)
        }

        /// An injection and how often it is done.
        public struct Monkey: Sendable {
            /// The share of the attempts: 0 to 1.
            public var rate: Double
            /// What is done.
            public var injection: Injection
            /// Which requests it is done to.
            ///
            /// Default: all.
            public var applies: @Sendable (HTTPRequest) -> Bool

            /// Creates one.
            public init(
                rate: Double,
                _ injection: Injection,
                to applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
            ) {
                self.rate = rate
                self.injection = injection
                self.applies = applies
            }
        }

        private let state: Locked<(isEnabled: Bool, monkeys: [Monkey])>
        private let random: Runtime.RandomSource

        /// Inside the engine: it is about attempts.
        public var place: CallContext.LayerPlace { .insideRecovery }

        /// Creates the layer, which does nothing yet.
        ///
        /// - Parameters:
        ///   - monkeys: What is done, in order: each attempt can meet several.
        ///   - seed: Where its random numbers begin; nil, the default, is anywhere.
        public init(_ monkeys: [Monkey], seed: UInt64? = nil) {
            state = Locked((false, monkeys))
            random = seed.map { Runtime.RandomSource(seed: $0) } ?? Runtime.RandomSource()
        }

        /// Whether anything is done; false at first.
        ///
        /// It can be changed while the client runs.
        public var isEnabled: Bool {
            get { state.withLock { $0.isEnabled } }
            set { state.withLock { $0.isEnabled = newValue } }
        }

        /// What is done; it can be changed while the client runs.
        public var monkeys: [Monkey] {
            get { state.withLock { $0.monkeys } }
            set { state.withLock { $0.monkeys = newValue } }
        }

        /// Does what is due to an attempt, and sends it, unless that was it.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let (isEnabled, monkeys) = state.withLock { $0 }
            guard isEnabled else { return try await next(request, body: body, context: context) }
            let due = monkeys.filter { random.unit() < $0.rate && $0.applies(request) }.map(\.injection)
            if due.isEmpty { return try await next(request, body: body, context: context) }
            // As a part of the attempt: it is counted, told and judged as any other.
            var context = context
            let time = context.runtime.time
            context.interposition = { ChaosTransport($0, due, asked: request, time: time) }
            return try await next(request, body: body, context: context)
        }
    }
}

/// A transport for one attempt to which something is done.
private struct ChaosTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let injections: [RecoveringClient.Chaos.Injection]
    /// The request as the layer saw it, without what inner layers attach.
    private let request: HTTPRequest
    private let time: TimeSource

    init(
        _ transport: any HTTPTransport,
        _ injections: [RecoveringClient.Chaos.Injection],
        asked request: HTTPRequest,
        time: TimeSource
    ) {
        self.transport = transport
        self.injections = injections
        self.request = request
        self.time = time
    }

    var name: String { transport.name }
    var enforcesTimeouts: Bool { transport.enforcesTimeouts }
    var keepsSendLimits: Bool { transport.keepsSendLimits }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        var options = options
        for injection in injections {
            switch injection {
            case .latency(let delay): try await wait(delay, within: &options)
            case .fault(let error): throw error
            case .outcome(let head, let body): return TransportResponse(head: head, body: body)
            case .behavior(let behave): try await behave(self.request)
            }
        }
        return try await transport.send(request, body: body, options: options)
    }

    /// Lets an attempt go out late, within its time.
    ///
    /// - Throws: `TransportError` if its time is over by then; `CancellationError` as soon as the task is cancelled.
    private func wait(_ delay: Duration, within options: inout AttemptOptions) async throws {
        let limit = options.timeout ?? .longest
        try await time.sleep(for: min(delay, limit))
        guard delay < limit else {
            throw TransportError(
                .timedOut,
                .neverSent,
                message: "the injected latency was longer than the attempt may take"
            )
        }
        options.timeout = options.timeout.map { $0 - max(delay, .zero) }
    }
}
