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
            for monkey in monkeys where random.unit() < monkey.rate && monkey.applies(request) {
                switch monkey.injection {
                case .latency(let delay): try await context.injectLatency(delay)
                case .fault(let error): throw error
                case .outcome(let head, let body):
                    let bytes = try await body.collect(upTo: 1 << 20)
                    let result = Exchange.Result.response(head, body: bytes)
                    var outcome = context.classify(result, for: request, at: context.runtime.time.now, .asCalled)
                    outcome.status = head.status.code
                    return RecoveredResponse(head: head, body: MessageBody(bytes), outcome: outcome)
                case .behavior(let behave): try await behave(request)
                }
            }
            return try await next(request, body: body, context: context)
        }
    }
}

extension CallContext {
    /// Lets an attempt go out late, within its time.
    ///
    /// - Throws: `TransportError` if its time is over by then; `CancellationError` as soon as the task is cancelled.
    fileprivate func injectLatency(_ delay: Duration) async throws {
        let time = runtime.time
        let limit = attemptTime(from: time.now).value ?? .longest
        try await time.sleep(for: min(delay, limit))
        if delay >= limit {
            throw TransportError(
                .timedOut,
                .neverSent,
                message: "the injected latency was longer than the attempt may take"
            )
        }
    }
}
