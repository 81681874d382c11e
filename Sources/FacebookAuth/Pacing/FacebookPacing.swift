public import HTTPRecovery
public import HTTPTypes

/// Slows calls down as a limit comes near, and stops them where it is reached.
///
/// Facebook reports on most answers how much of its limits is used, on successes too. From a share of 80 percent on calls
/// of the same app, person or business leave one after the other, with growing pauses. Where a limit is used up, or a
/// refusal states no time, the scope's gate is closed in the client's store: no call of the scope leaves any process that
/// shares it, since calls made meanwhile would lengthen the block.
///
/// ``Facebook`` has one of these around every attempt. A client that calls Graph by itself can have it as a layer inside
/// `Recovery`.
public final class FacebookPacing: Middleware {
    /// When to slow down, and how much.
    public struct Configuration: Sendable, Hashable {
        /// The share from which on calls are slowed down, in percent; 0 to 100, default: 80.
        public var threshold: Double
        /// The pause between two calls just below the limit; default: 5 s.
        public var longestPause: Duration
        /// How long a scope is left alone where the server states no time, doubled with each refusal in a row up to an
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

    /// Creates the layer.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Sends the request when its turn has come, and learns from the answer.
    ///
    /// - Throws: `RecoveryError` of the kind `rate_limited` where the turn would come after the deadline or the longest
    ///   wait of the engine around (without one, the cooldown), or the scope was blocked meanwhile for longer than that;
    ///   no turn is taken then. `CancellationError` as soon as the call is cancelled.
    public func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        let scopes = FacebookScopes(request, context: context)
        try await waitForTurn(scopes, context)
        var response = try await next(request, body: body, context: context)
        await learn(from: response.headerFields, &response.outcome, scopes: scopes, runtime: context.runtime)
        return response
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
        // After a wait that the server has stated, what was used up before it says nothing any more.
        let settled = isLimit && outcome.retryAfter != nil ? scopes.key(for: outcome.scope) : nil
        var blocked: [Gate.Key: Duration] = [:]
        for entry in usage.entries {
            guard let key = scopes.key(for: entry) else { continue }
            ledger.withLock { $0.note(key == settled ? 0 : entry.percent, for: key, at: now) }
            let isBlocked = entry.percent >= 100 || (entry.regain != nil && entry.scope != .adAccount)
            if !isLimit, isBlocked {
                let wait = entry.regain ?? configuration.cooldown
                blocked[key] = max(blocked[key] ?? .zero, wait)
            }
        }
        if isLimit {
            if let key = scopes.key(for: outcome.scope) {
                let count = ledger.withLock { $0.countRefusal(of: key) }
                if outcome.retryAfter == nil { outcome.retryAfter = cooldown(count) }
            } else if outcome.retryAfter == nil {
                outcome.retryAfter = configuration.cooldown
            }
        } else if !outcome.isFailure {
            ledger.withLock { $0.forgetRefusals(of: scopes.keys) }
        }
        for (key, wait) in blocked {
            let opensAt = runtime.time.wallTime.advanced(by: wait)
            await runtime.state.close(Gate(key: key, reason: .rateLimited, opensAt: opensAt))
        }
    }

    /// How long a scope is left alone after so many refusals in a row that state no time.
    private func cooldown(_ count: Int) -> Duration {
        min(configuration.cooldown.scaled(by: Double(1 << min(max(count - 1, 0), 12))), .seconds(3600))
    }

    private func waitForTurn(_ scopes: FacebookScopes, _ context: CallContext) async throws {
        let time = context.runtime.time
        let keys = scopes.keys
        let now = time.now
        let limit = limit(context)
        let turn = ledger.withLock { $0.takeTurn(in: keys, at: now, within: limit, configuration) }
        let pause = now.duration(to: turn)
        guard pause > .zero else { return }
        do {
            try await wait(pause, context)
            // A limit may have been met by the call in front.
            if let gate = await context.runtime.state.closedGate(among: keys) {
                try await wait(gate.opensAt?.elapsed(since: time.wallTime) ?? .longest, context)
            }
        } catch {
            ledger.withLock { $0.giveBack(turn, in: keys) }
            throw error
        }
    }

    /// The longest that the call can wait: a wait that ends with the deadline leaves no time for the call, and without an
    /// engine nobody else bounds it.
    private func limit(_ context: CallContext) -> Duration {
        let left = context.remaining.map { $0.saturatingSubtracting(.nanoseconds(1)) } ?? .longest
        return min(left, context.longestWait ?? configuration.cooldown)
    }

    private func wait(_ delay: Duration, _ context: CallContext) async throws {
        if delay > limit(context) {
            let isPastDeadline = context.remaining.map { delay >= $0 } ?? false
            throw Self.blocked(delay, isPastDeadline ? .deadlineWouldPass : .waitExceedsLimit, context)
        }
        try await context.wait(delay, reason: .rateLimited)
    }

    private static func blocked(_ wait: Duration, _ reason: StopReason, _ context: CallContext) -> RecoveryError {
        let outcome = Outcome(.rateLimited, processed: .no, retryAfter: wait, remedies: [.wait])
        return RecoveryError(
            outcome: outcome,
            reason: reason,
            retryAfter: wait,
            retryAt: context.runtime.time.wallTime.advanced(by: wait),
            history: context.record.history
        )
    }
}
