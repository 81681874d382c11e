public import HTTPTypes

extension RecoveringClient {
    /// Makes attempts fail, late or otherwise on purpose: in tests, or in production, for a share of it, to see that a
    /// program bears it.
    ///
    /// It stands inside the engine and sees attempts, which recover as from a real failure. Nothing happens while
    /// ``isEnabled`` says so, as at first.
    ///
    /// ```swift
    /// let chaos = RecoveringClient.Chaos([
    ///     .init(rate: 0.01, .latency(.seconds(2))), .init(.every(200), .status(503, [.retryAfter: "1"])),
    /// ])
    /// let client = RecoveringClient(transport: transport) {
    ///     Recovery()
    ///     chaos
    /// }
    /// chaos.isEnabled = true
    /// ```
    public final class Chaos: ClientLayer {
        /// An injection, and when it is done.
        public struct Monkey: Sendable {
            /// When it is done, of the attempts that it applies to.
            public var occasion: Occasion
            /// What is done.
            public var injection: Injection
            /// Which requests it is done to.
            ///
            /// Default: all.
            public var applies: @Sendable (HTTPRequest) -> Bool

            /// Creates one.
            ///
            /// - Parameters:
            ///   - occasion: When it is done, of the attempts that it applies to.
            ///   - injection: What is done.
            ///   - applies: Which requests it is done to. Default: all.
            public init(
                _ occasion: Occasion,
                _ injection: Injection,
                to applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
            ) {
                self.occasion = occasion
                self.injection = injection
                self.applies = applies
            }

            /// Creates one for a path, whatever the query is.
            public init(_ occasion: Occasion, _ injection: Injection, toPath path: String) {
                self.init(occasion, injection) { $0.pathWithoutQuery == path }
            }

            /// Creates one for a share of the attempts: 0 to 1.
            public init(
                rate: Double,
                _ injection: Injection,
                to applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
            ) {
                self.init(.share(rate), injection, to: applies)
            }
        }

        private struct State {
            var isEnabled = false
            var monkeys: [Monkey]
            /// To how many attempts each has applied; of their own, since `applies` runs in between.
            var counts: Locked<[Int]>

            init(_ monkeys: [Monkey]) {
                self.monkeys = monkeys
                counts = Locked(monkeys.map { _ in 0 })
            }
        }

        private let state: Locked<State>
        private let random: Runtime.RandomSource

        /// Inside the engine: it is about attempts.
        public var place: CallContext.LayerPlace { .insideRecovery }

        /// Creates the layer, which does nothing yet.
        ///
        /// - Parameters:
        ///   - monkeys: What is done, in order: each attempt can meet several, of which the first is outermost.
        ///   - seed: Where its random numbers begin; nil, the default, is anywhere.
        public init(_ monkeys: [Monkey], seed: UInt64? = nil) {
            state = Locked(State(monkeys))
            random = seed.map { Runtime.RandomSource(seed: $0) } ?? Runtime.RandomSource()
        }

        /// Whether anything is done; false at first.
        ///
        /// It can be changed while the client runs. What goes out while it is false is not counted.
        public var isEnabled: Bool {
            get { state.withLock { $0.isEnabled } }
            set { state.withLock { $0.isEnabled = newValue } }
        }

        /// What is done; it can be changed while the client runs, and is counted anew then.
        public var monkeys: [Monkey] {
            get { state.withLock { $0.monkeys } }
            set {
                state.withLock { state in
                    let isEnabled = state.isEnabled
                    state = State(newValue)
                    state.isEnabled = isEnabled
                }
            }
        }

        /// Does what is due to an attempt, and sends it, unless that was it.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let state = state.withLock { $0 }
            guard state.isEnabled else { return try await next(request, body: body, context: context) }
            var due: [Injection] = []
            for (index, monkey) in state.monkeys.enumerated() where monkey.applies(request) {
                let ordinal = state.counts.withLock { counts in
                    counts[index] += 1
                    return counts[index]
                }
                if monkey.occasion.isDue(ordinal, random) { due.append(monkey.injection) }
            }
            if due.isEmpty { return try await next(request, body: body, context: context) }
            // As a part of the attempt: it is counted, told and judged as any other.
            var context = context
            let time = context.runtime.time
            context.interposition = { [due] in ChaosTransport($0, due[...], asked: request, time: time) }
            return try await next(request, body: body, context: context)
        }
    }
}
