import Synchronization

extension Recovery {
    /// Stops asking a server that fails, and probes it after a while.
    ///
    /// There is one state for each origin, or for what ``init(_:key:)`` makes of an attempt. A closed breaker judges by
    /// the results of attempts; an open one refuses all of them at once, with the time left
    /// (``History/StopReason/breakerOpen``), and a retry is not waited for that would meet it; a half-open one lets a few
    /// probes through. What tells nothing about the server counts for nothing: cancellation, answers below 500, what this
    /// side has refused or done wrong, and what comes of an attempt that began before the last change of state.
    ///
    /// ```swift
    /// let breaker = Recovery.CircuitBreaker(.consecutive(5))
    /// let client = RecoveringClient(transport: transport) { Recovery(admissions: [breaker]) }
    /// ```
    public final class CircuitBreaker: Admission {
        /// Where a breaker stands.
        @nonexhaustive public enum State: String, Sendable, Hashable, CaseIterable {
            /// Attempts go out and are judged.
            case closed
            /// None goes out; the first one after the break finds it half-open.
            case open
            /// Probes go out.
            case halfOpen = "half_open"
            /// Somebody has opened it.
            case forcedOpen = "forced_open"
            /// Somebody has closed it.
            case forcedClosed = "forced_closed"
            /// It judges, and opens never.
            case metricsOnly = "metrics_only"
        }

        private typealias Guarded = Locked<BreakerState>

        private struct Settings {
            var configuration: Configuration
            var override: Override?

            /// What a breaker begins with.
            var state: Guarded { Guarded(BreakerState(configuration, override: override, at: .zero)) }
        }

        private let settings: Locked<Settings>
        private let key: (@Sendable (PlannedAttempt) -> String)?
        private let origins: OriginTable<Guarded>
        private let keys = Locked<[String: Guarded]>([:])
        /// How many breakers are not closed: mostly none, and then nobody has to be asked.
        private let watchful = Atomic<Int>(0)
        /// Whether somebody has opened all of them.
        private let isForcedOpen = Atomic<Bool>(false)

        /// Creates a breaker.
        ///
        /// - Parameters:
        ///   - configuration: When it opens, and closes again; one with a ``Configuration/problem`` works as well as it can.
        ///   - key: What shares a state; nil, the default, is the origin. At most 1024 keys are kept.
        public init(
            _ configuration: Configuration = Configuration(),
            key: (@Sendable (PlannedAttempt) -> String)? = nil
        ) {
            let settings = Locked(Settings(configuration: configuration))
            self.settings = settings
            self.key = key
            origins = OriginTable { _ in settings.withLock { $0.state } }
        }

        /// When it opens, and closes again; a change begins all windows anew, and keeps what is open.
        public var configuration: Configuration {
            get { settings.withLock { $0.configuration } }
            set {
                settings.withLock { $0.configuration = newValue }
                for state in all { state.withLock { $0.configuration = newValue } }
            }
        }

        /// Somebody's word for all keys, in place of what was seen; nil, at first, is none.
        public var override: Override? {
            get { settings.withLock { $0.override } }
            set {
                settings.withLock { $0.override = newValue }
                isForcedOpen.store(newValue == .open, ordering: .releasing)
                for state in all { change(state) { $0.override = newValue } }
            }
        }

        /// Where the breaker of a request stands, as its last attempt left it.
        public func state(for attempt: PlannedAttempt) -> State {
            guarded(attempt).withLock { $0.state }
        }

        /// Whether anybody has to be asked: not while all breakers are closed.
        public func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
            watchful.load(ordering: .acquiring) > 0 || isForcedOpen.load(ordering: .acquiring)
        }

        /// Lets an attempt go, or refuses it with the time left.
        public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            let now = context.runtime.time.now.sinceStart
            let answer = change(guarded(attempt)) { state in
                attempt.isDue ? state.admit(at: now) : state.plan(at: now, after: attempt.delay)
            }
            switch answer {
            case .go: return .go()
            case .probe(let number): return .go(PlannedAttempt.Permit(number, kept: .whileDue))
            case .refuse(let time):
                var outcome =
                    attempt.failure ?? Outcome(.unavailable, scope: .origin, processed: .no, remedies: [.wait])
                if let time { outcome.retryAfter = time }
                return .refuse(.breakerOpen, because: outcome)
            }
        }

        /// Judges by a probe, or gives it back.
        public func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            judge(attempt, end, probe: permit.value as? Int, context)
            return nil
        }

        /// Judges by an attempt.
        public func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            judge(attempt, end, probe: nil, context)
            return nil
        }

        private func judge(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, probe: Int?, _ context: CallContext) {
            guard case .ended(let outcome, _) = end, let isFailure = outcome.blamesServer else {
                guard let probe else { return }
                let now = context.runtime.time.now.sinceStart
                return change(guarded(attempt)) { $0.end(nil, probe: probe, at: now) }
            }
            let (elapsed, now) = context.record.lastAttempt
            let retryAfter = isFailure ? outcome.retryAfter : nil
            let result = BreakerState.Result(isFailure: isFailure, elapsed: elapsed, retryAfter: retryAfter)
            change(guarded(attempt)) { $0.end(result, probe: probe, at: now) }
        }

        private func guarded(_ attempt: PlannedAttempt) -> Guarded {
            guard let name = key?(attempt) else { return origins[attempt.request] }
            return keys.withLock { keys in
                if let state = keys[name] { return state }
                // Bounded against endless keys; one that stands open is not forgotten while a closed one is there.
                if keys.count >= 1024 {
                    let closed = keys.first { $0.value.withLock { $0.isTransparent } }
                    keys[(closed ?? keys.first)?.key ?? name] = nil
                }
                let state = settings.withLock { $0.state }
                keys[name] = state
                return state
            }
        }

        /// Changes a state, and counts those that are not closed.
        private func change<Result>(_ guarded: Guarded, _ body: (inout BreakerState) -> Result) -> Result {
            guarded.withLock { state in
                let wasTransparent = state.isTransparent
                defer {
                    let isTransparent = state.isTransparent
                    if wasTransparent != isTransparent {
                        watchful.add(wasTransparent ? 1 : -1, ordering: .releasing)
                    }
                }
                return body(&state)
            }
        }

        private var all: [Guarded] {
            Array(origins.all.values) + keys.withLock { Array($0.values) }
        }
    }
}

extension Outcome {
    /// Whether the server has failed, or has answered well; nil if the outcome tells neither.
    var blamesServer: Bool? {
        switch kind {
        case .transport, .timedOut: transportError?.isTransient == false ? nil : true
        case _ where (400..<500).contains(status ?? 0): nil
        case .unavailable: true
        case _ where !isFailure: false
        default: (status ?? 0) >= 500 ? true : nil
        }
    }
}
