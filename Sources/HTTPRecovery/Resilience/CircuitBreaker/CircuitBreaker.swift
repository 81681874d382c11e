import Synchronization

extension Recovery {
    /// Stops asking a server that fails, and probes it after a while.
    ///
    /// There is one state for each origin, or for what ``init(_:key:judgement:isShared:)`` makes of an attempt. A closed
    /// breaker judges by
    /// the results of attempts; an open one refuses all of them at once, with the time left
    /// (``History/StopReason/breakerOpen``), and a retry is not waited for that would meet it; a half-open one lets a few
    /// probes through. What tells nothing about the server counts for nothing: cancellation, errors below 500, what this
    /// side has refused or done wrong, and what comes of an attempt that began before the last change of state. What it
    /// does stands in the events (``RecoveryEvent/Kind/breaker(state:opensAfter:)``).
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

        /// What a probe is known by.
        private struct Probe {
            var number: Int
            /// The right to probe, if others have to ask for it too.
            var lease: SharedState.Lease?
        }

        private let settings: Locked<Settings>
        private let key: (@Sendable (PlannedAttempt) -> String)?
        private let judgement: (@Sendable (Outcome) -> Bool?)?
        let isShared: Bool
        private let origins: OriginTable<Guarded>
        private let keys = Locked<[String: Guarded]>([:])
        /// Of how many breakers attempts have to ask: mostly of none.
        private let watchful = Atomic<Int>(0)
        /// Whether somebody has opened all of them.
        private let isForcedOpen = Atomic<Bool>(false)

        /// Creates a breaker.
        ///
        /// - Parameters:
        ///   - configuration: When it opens, and closes again; a client refuses one with a ``Configuration/problem``.
        ///   - key: What shares a state; nil, the default, is the origin. At most 1024 keys are kept; they stand as they are in
        ///     a client's live state.
        ///   - judgement: Whether an outcome is a failure of the server, or a success; nil if it tells neither. Default: lost
        ///     connections, timeouts, outages and answers from 500 on are failures, other errors tell nothing; see
        ///     ``Configuration/countsRefusals``.
        ///   - isShared: Whether all who share the client's store leave a server alone that one of them has found broken, and
        ///     probe it one at a time. Each judges by what it has seen itself, and closes by a probe of its own. Each attempt asks
        ///     the store then. Default: false.
        public init(
            _ configuration: Configuration = Configuration(),
            key: (@Sendable (PlannedAttempt) -> String)? = nil,
            judgement: (@Sendable (Outcome) -> Bool?)? = nil,
            isShared: Bool = false
        ) {
            let settings = Locked(Settings(configuration: configuration))
            self.settings = settings
            self.key = key
            self.judgement = judgement
            self.isShared = isShared
            origins = OriginTable { _ in settings.withLock { $0.state } }
        }

        /// When it opens, and closes again; a change keeps what is open, and the results by which it judges.
        public var configuration: Configuration {
            get { settings.withLock { $0.configuration } }
            set {
                settings.withLock { $0.configuration = newValue }
                for state in all { state.withLock { $0.configuration = newValue } }
            }
        }

        /// Somebody's word for all keys, in place of what was seen; nil, at first, is none.
        ///
        /// The events tell of it with the next attempt, and at once if ``RecoveringClient/ReloadableRecovery`` has set it.
        public var override: Override? {
            get { settings.withLock { $0.override } }
            set {
                settings.withLock { $0.override = newValue }
                isForcedOpen.store(newValue == .open, ordering: .releasing)
                for state in all { change(state) { $0.override = newValue } }
            }
        }

        /// Why it cannot work by its configuration.
        public var problem: String? { configuration.problem }

        /// Where the breaker of a request stands, as its last attempt left it.
        public func state(for attempt: PlannedAttempt) -> State {
            guarded(attempt).withLock { $0.state }
        }

        /// Tells those who watch which breakers of origins stand elsewhere by what was set.
        func tell(in runtime: Runtime) {
            let now = runtime.time.now
            for (origin, guarded) in origins.all {
                guard let news = change(guarded, { $0.news() }) else { continue }
                let kind = RecoveryEvent.Kind.breaker(news, at: now.sinceStart)
                runtime.events.emit(RecoveryEvent(call: 0, url: "\(origin)", time: now, kind: kind))
            }
        }

        /// Whether anybody has to be asked: not while all breakers are closed, those of others too.
        public func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
            if watchful.load(ordering: .acquiring) > 0 || isForcedOpen.load(ordering: .acquiring) { return true }
            return isShared ? mayHear(context) : false
        }

        @inline(never)
        private func mayHear(_ context: CallContext) -> Bool { context.runtime.state.mayHoldGates }

        /// Lets an attempt go, or refuses it with the time left.
        public func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> PlannedAttempt.Answer {
            if isShared { await hear(attempt, context) }
            let now = context.runtime.time.now.sinceStart
            let answer = change(guarded(attempt), at: now, context) { state in
                attempt.isDue ? state.admit(at: now) : state.plan(at: now, after: attempt.delay)
            }
            switch answer {
            case .go: return .go()
            case .refuse(let time): return refusal(of: attempt, time)
            case .probe(let number):
                var probe = Probe(number: number)
                if isShared {
                    probe.lease = await context.runtime.state.acquireLease(
                        name(attempt),
                        for: configuration.breakDuration
                    )
                    if probe.lease == nil {
                        change(guarded(attempt), at: now, context) { $0.end(nil, probe: number, at: now) }
                        // Who is cancelled is given no lease, and was not refused.
                        try Task.checkCancellation()
                        return refusal(of: attempt, nil)
                    }
                }
                return .go(PlannedAttempt.Permit(probe, kept: .whileDue))
            }
        }

        /// Judges by a probe, or gives it back.
        public func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            let probe = permit.value as? Probe
            guard isShared else {
                judge(attempt, end, probe: probe?.number, context)
                return nil
            }
            let opened = judgeForAll(attempt, end, probe: probe?.number, context)
            guard let lease = probe?.lease else { return opened }
            return {
                _ = await opened?()
                await context.runtime.state.releaseLease(lease)
                return nil
            }
        }

        /// Judges by an attempt.
        public func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            if isShared { return judgeForAll(attempt, end, probe: nil, context) }
            judge(attempt, end, probe: nil, context)
            return nil
        }

        private func judge(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, probe: Int?, _ context: CallContext) {
            guard case .ended(let outcome, _) = end, let isFailure = isFailure(outcome) else {
                guard let probe else { return }
                let now = context.runtime.time.now.sinceStart
                return change(guarded(attempt), at: now, context) { $0.end(nil, probe: probe, at: now) }
            }
            let times = attempt.times(in: context)
            let retryAfter = isFailure ? outcome.retryAfter : nil
            let result = BreakerState.Result(isFailure: isFailure, elapsed: times.elapsed, retryAfter: retryAfter)
            change(guarded(attempt), at: times.end, context) { $0.end(result, probe: probe, at: times.end) }
        }

        /// Whether the server has failed, or has answered well; nil if the outcome tells neither.
        private func isFailure(_ outcome: Outcome) -> Bool? {
            if let judgement { return judgement(outcome) }
            if let isFailure = outcome.blamesServer { return isFailure }
            return refuses(outcome) && configuration.countsRefusals ? true : nil
        }

        private func refuses(_ outcome: Outcome) -> Bool {
            outcome.status == 408 || outcome.status == 429
        }

        /// Judges, and has all who share the breaker know if it has opened.
        @inline(never)
        private func judgeForAll(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            probe: Int?,
            _ context: CallContext
        ) -> Remainder? {
            let state = guarded(attempt)
            let before = state.withLock { $0.opensUntil }
            judge(attempt, end, probe: probe, context)
            guard let opened = state.withLock({ $0.opensUntil }), opened != before else { return nil }
            let gate = SharedState.Gate(
                key: gateKey(attempt),
                reason: .unavailable,
                opensAt: context.runtime.time.wallTime.advanced(
                    by: max(opened - context.runtime.time.now.sinceStart, .zero)
                )
            )
            return {
                await context.runtime.state.close(gate)
                return nil
            }
        }

        /// Opens as long as another has.
        private func hear(_ attempt: PlannedAttempt, _ context: CallContext) async {
            guard let end = await context.runtime.state.closedGate(among: [gateKey(attempt)])?.opensAt else { return }
            let (now, left) = (context.runtime.time.now.sinceStart, end.elapsed(since: context.runtime.time.wallTime))
            change(guarded(attempt), at: now, context) { $0.open(until: now.saturatingAdding(left), at: now) }
        }

        private func refusal(of attempt: PlannedAttempt, _ left: Duration?) -> PlannedAttempt.Answer {
            var outcome = attempt.failure ?? Outcome(.unavailable, scope: .origin, processed: .no, remedies: [.wait])
            if let left { outcome.retryAfter = left }
            return .refuse(.breakerOpen, because: outcome)
        }

        /// Under which name others hear of it; no name of an endpoint begins so.
        private func gateKey(_ attempt: PlannedAttempt) -> SharedState.Gate.Key {
            SharedState.Gate.Key(scope: .endpoint, origin: attempt.origin, name: name(attempt))
        }

        private func name(_ attempt: PlannedAttempt) -> String {
            // Whatever a caller's own key is made of stays in this process.
            "breaker \(key.map { Fingerprint.text(of: $0(attempt)) } ?? "\(attempt.origin)")"
        }

        /// Where the breakers stand that have seen anything.
        public func knowledge(at now: TimeSource.Instant) -> JSONValue? {
            func json(_ state: Guarded) -> JSONValue? { state.withLock { $0.knowledge(at: now.sinceStart) } }
            let named = keys.withLock { $0 }.compactMap { name, state in json(state).map { JSONValue.Member(name, $0) }
            }
            let members: [JSONValue.Member?] = [
                origins.knowledge(json).map { .init("origins", $0) },
                named.isEmpty ? nil : .init("keys", .object(named.sorted { $0.key < $1.key })),
            ]
            return members.contains { $0 != nil } ? .object(members.compactMap { $0 }) : nil
        }

        /// Goes on where others stood.
        public func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool {
            func take(_ state: Guarded, _ known: JSONValue) -> Bool {
                change(state) { $0.learn(known, from: moment.sinceStart) }
            }
            guard let members = knowledge.members else { return false }
            return members.reduce(true) { isRead, member in
                switch member.key {
                case "origins": return origins.learn(member.value, take) && isRead
                case "keys":
                    guard let named = member.value.members, named.count <= Self.mostKeys else { return false }
                    return named.reduce(isRead) { take(state(named: $1.key), $1.value) && $0 }
                default: return false
                }
            }
        }

        private static var mostKeys: Int { 1024 }

        private func guarded(_ attempt: PlannedAttempt) -> Guarded {
            guard let key else { return origins[attempt] }
            return state(named: key(attempt))
        }

        private func state(named name: String) -> Guarded {
            keys.withLock { keys in
                if let state = keys[name] { return state }
                // Bounded against endless keys; one that stands open is not forgotten while a closed one is there.
                if keys.count >= Self.mostKeys {
                    let closed = keys.first { $0.value.withLock { $0.isClosed } }
                    keys[(closed ?? keys.first)?.key ?? name] = nil
                }
                let state = settings.withLock { $0.state }
                keys[name] = state
                return state
            }
        }

        /// Changes a state, and tells if it is another then.
        private func change<Result>(
            _ guarded: Guarded,
            at now: Duration,
            _ context: CallContext,
            _ body: (inout BreakerState) -> Result
        ) -> Result {
            let (result, news) = change(guarded) { state in (body(&state), state.news()) }
            if let news { context.emit(.breaker(news, at: now)) }
            return result
        }

        /// Changes a state, and counts those of which attempts have to ask.
        private func change<Result>(_ guarded: Guarded, _ body: (inout BreakerState) -> Result) -> Result {
            guarded.withLock { state in
                defer {
                    if state.isCounted != state.hasToBeAsked {
                        watchful.add(state.isCounted ? -1 : 1, ordering: .releasing)
                        state.isCounted.toggle()
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

extension RecoveryEvent.Kind {
    fileprivate static func breaker(_ news: BreakerState.News, at now: Duration) -> Self {
        .breaker(state: news.state.rawValue, opensAfter: news.end.map { $0 - now })
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
