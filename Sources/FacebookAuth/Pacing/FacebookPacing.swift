public import HTTPRecovery
import HTTPTypes

/// Slows calls down as a limit comes near, and stops them if it is reached.
///
/// Facebook reports on most answers how much of its limits is used, on successes too. From a share of 80 percent on calls
/// of the same app, person or business leave one after the other, with growing pauses. If a limit is used up, or a
/// refusal states no time, the scope's gate is closed in the client's store: no call of the scope leaves any process that
/// shares it, since calls made meanwhile would lengthen the block.
///
/// ``Facebook`` has one of these for all its calls. A client that calls Graph by itself has it twice: among the
/// admissions of its `Recovery`, and by ``learning`` as a layer inside it.
public final class FacebookPacing: Admission {
    /// When to slow down, and how much.
    public struct Configuration: Sendable, Hashable {
        /// The share from which on calls are slowed down, in percent; 0 to 100, default: 80.
        public var threshold: Double
        /// The pause between two calls just below the limit; default: 5 s.
        public var longestPause: Duration
        /// How long a scope is left alone if the server states no time, doubled with each refusal in a row up to an
        /// hour; at least 1 s, default: 60 s.
        public var cooldown: Duration

        /// Creates a configuration; values out of range are clamped.
        public init(
            threshold: Double = 80,
            longestPause: Duration = .seconds(5),
            cooldown: Duration = .seconds(60)
        ) {
            self.threshold = threshold.isNaN ? 80 : min(max(threshold, 0), 100)
            self.longestPause = min(max(longestPause, .zero), .seconds(3600))
            self.cooldown = min(max(cooldown, .seconds(1)), .seconds(3600))
        }
    }

    private let configuration: Configuration
    private let ledger = Locked(PacingLedger())

    /// Creates a pacing.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// The layer that learns from answers what is left of the limits; it stands inside the engine.
    public var learning: any ClientLayer { FacebookLearning(pacing: self) }

    /// Lets a call go when its turn has come.
    public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
        guard attempt.isDue else { return .go() }
        let scopes = FacebookScopes(attempt.request, context: context)
        let businesses = businesses(of: scopes)
        // What neither the path nor the host tells, the engine's gates do not know of.
        let others = scopes.isElsewhere ? scopes.keys(within: businesses) : scopes.unnamed(within: businesses)
        if !others.isEmpty, let gate = await context.runtime.state.closedGate(among: others) {
            return .hold(because: Self.outcome(of: gate, at: context.runtime.time.wallTime), queue: gate.key)
        }
        let keys = scopes.shares(within: businesses)
        let now = context.runtime.time.now
        let limit = attempt.longestWait
        let turn = ledger.withLock { $0.takeTurn(in: keys, at: now, within: limit, configuration) }
        let pause = now.duration(to: turn)
        let outcome = Outcome(.rateLimited, processed: .no, retryAfter: pause, remedies: [.wait])
        return .wait(
            pause,
            because: outcome,
            permit: pause <= limit ? PlannedAttempt.Permit(Turn(time: turn, keys: keys), kept: .throughItsWait) : nil
        )
    }

    /// Gives a turn back that was not used; those behind it stay where they are.
    public func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        permit: PlannedAttempt.Permit,
        context: CallContext
    ) -> Remainder? {
        guard case .notSent = end, let turn = permit.value as? Turn else { return nil }
        ledger.withLock { $0.giveBack(turn.time, in: turn.keys) }
        return nil
    }

    /// The businesses that a call's objects are known to be counted for, if its path does not tell.
    func businesses(of scopes: FacebookScopes) -> [String] {
        ledger.withLock { ledger in scopes.subject.parts.compactMap { ledger.business(of: $0) } }
    }

    /// What a closed gate means for a call that comes to it.
    static func outcome(of gate: SharedState.Gate, at now: Timestamp) -> Outcome {
        var outcome = Outcome(gate.reason, scope: gate.key.scope, processed: .no, remedies: [.wait])
        outcome.retryAfter = gate.opensAt.map { max(.zero, $0.elapsed(since: now)) }
        outcome.code = gate.code
        return outcome
    }

    private struct Turn {
        var time: TimeSource.Instant
        var keys: [SharedState.Gate.Key]
    }

    /// Learns from the answer to a call or to an item of a batch.
    ///
    /// A refusal that states no time is given one.
    func learn(
        from fields: HTTPFields,
        _ outcome: inout Outcome,
        scopes: FacebookScopes,
        runtime: Runtime
    ) async {
        let isLimit = outcome.kind == .rateLimited || outcome.kind == .quotaExhausted
        let usage = FacebookUsage(fields)
        let now = runtime.time.now
        let code = isLimit ? outcome.code.flatMap { Int($0) } : nil
        let isSeveral = scopes.subject.isSeveral
        if !isSeveral { ledger.withLock { $0.learn(usage.businesses, for: scopes.subject) } }
        let businesses = businesses(of: scopes)
        let isStated = outcome.retryAfter != nil
        if isLimit { state(&outcome, scopes) }
        if !outcome.isFailure { ledger.withLock { $0.forgetRefusals(of: scopes.keys(within: businesses)) } }
        var blocked: [SharedState.Gate.Key: Duration] = [:]
        for entry in usage.entries {
            let isCause = isLimit && Self.isCause(entry, of: outcome, code, scopes, businesses)
            guard let share = scopes.share(of: entry) else { continue }
            // After a wait that the server has stated, what was used up before it says nothing any more.
            ledger.withLock { $0.note(isCause && isStated ? 0 : entry.percent, for: share, at: now) }
            let isBlocked = entry.percent >= 100 || (entry.regain != nil && entry.scope != .adAccount)
            guard isBlocked, !isCause, !isLimit || entry.isOfBusiness else { continue }
            let wait = entry.regain ?? configuration.cooldown
            for key in scopes.gates(of: entry) { blocked[key] = max(blocked[key] ?? .zero, wait) }
        }
        // A limit of a page or a business holds its other uses too; the call's own one the engine holds. Of several objects
        // only what the answer reports tells whose it is.
        if isLimit, !isSeveral, outcome.scope == .endpoint, let type = FacebookUsage.type(ofCode: code),
            let wait = outcome.retryAfter
        {
            for object in [scopes.subject.object] + businesses {
                for key in scopes.held(byType: type, of: object) { blocked[key] = wait }
            }
        }
        // At the host that has refused it, the engine closes the gate.
        if isLimit, scopes.isElsewhere, let key = scopes.key(for: outcome.scope) { blocked[key] = outcome.retryAfter }
        for (key, wait) in blocked {
            let opensAt = runtime.time.wallTime.advanced(by: wait)
            await runtime.state.close(SharedState.Gate(key: key, reason: .rateLimited, opensAt: opensAt))
        }
    }

    /// Whether a reported limit is the one that has refused the call.
    private static func isCause(
        _ entry: FacebookUsage.Entry,
        of outcome: Outcome,
        _ code: Int?,
        _ scopes: FacebookScopes,
        _ businesses: [String]
    ) -> Bool {
        switch entry.scope {
        case .app: return outcome.scope == .app
        case .page, .adAccount: return outcome.scope == .endpoint
        case .business(let id):
            guard outcome.scope == .endpoint, id == scopes.subject.object || businesses.contains(id) else {
                return false
            }
            return FacebookUsage.type(ofCode: code).map { entry.type?.hasPrefix($0) ?? true } ?? true
        }
    }

    /// Gives a refusal that states no time one.
    private func state(_ outcome: inout Outcome, _ scopes: FacebookScopes) {
        if let key = scopes.key(for: outcome.scope) {
            let count = ledger.withLock { $0.countRefusal(of: key) }
            if outcome.retryAfter == nil { outcome.retryAfter = cooldown(count) }
        } else if outcome.retryAfter == nil {
            outcome.retryAfter = configuration.cooldown
        }
        // Of a quota that states no time is known that minutes do not help.
        if outcome.kind == .quotaExhausted { outcome.retryAfter = max(outcome.retryAfter ?? .zero, Outcome.quotaSpan) }
    }

    /// How long a scope is left alone after so many refusals in a row that state no time.
    private func cooldown(_ count: Int) -> Duration {
        min(configuration.cooldown.scaled(by: Double(1 << min(max(count - 1, 0), 12))), .seconds(3600))
    }
}

/// Learns from what an attempt brings.
private struct FacebookLearning: ClientLayer {
    let pacing: FacebookPacing

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var response = try await next(request, body: body, context: context)
        let scopes = FacebookScopes(request, context: context)
        await pacing.learn(from: response.headerFields, &response.outcome, scopes: scopes, runtime: context.runtime)
        return response
    }
}
