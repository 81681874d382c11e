import HTTPTypes

/// What the server has said to all: stated waits and lockouts, by the scopes that an outcome can have.
struct Gates: Admission {
    /// Whether a wait that the server merely advises holds for all, as any other that it states.
    var isAdviceBinding = true

    func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
        context.surroundings.runtime.state.mayHoldGates
    }

    /// Holds the attempt while a gate is closed for it.
    func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
        guard attempt.isDue else { return .go() }
        let state = context.runtime.state
        let credential = await context.credential(of: attempt.request)
        let keys = Outcome.Scope.allCases.flatMap { Self.keys(for: $0, attempt, credential, context) }
        guard let gate = await state.closedGate(among: keys) else { return .go() }
        return .hold(because: Self.outcome(of: gate, at: context.runtime.time.wallTime), queue: gate.key)
    }

    /// Closes the gate of the outcome's scope, if the server has stated a time, at the origin that has stated it.
    func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
        guard case .ended(let outcome, let answering) = end, outcome.isFailure else { return nil }
        return { await close(for: outcome, of: attempt, answeredBy: answering, context) }
    }

    private func close(
        for outcome: Outcome,
        of attempt: PlannedAttempt,
        answeredBy answering: Origin?,
        _ context: CallContext
    ) async -> SharedState.Gate.Key? {
        if outcome.delayForm == .advised, !isAdviceBinding { return nil }
        let isLockout = outcome.kind == .accountLocked
        var opensAt: Timestamp?
        switch (isLockout, outcome.lockout, outcome.retryAfter) {
        case (true, .remaining(let time), _) where time > .zero,
            (false, _, let time?) where time > .zero && outcome.remedies.contains(.wait):
            opensAt = context.runtime.time.wallTime.advanced(by: time)
        case (true, .indefinite, _): opensAt = nil
        default: return nil
        }
        let credential = await context.presentedCredential(of: attempt.request)
        let scope = isLockout ? .account : outcome.scope
        guard var key = Self.keys(for: scope, attempt, credential, context).first else { return nil }
        if let answering { key.origin = answering }
        let gate = SharedState.Gate(
            key: key,
            reason: outcome.kind,
            opensAt: opensAt,
            code: outcome.code,
            userMessage: outcome.userMessage,
            remedies: isLockout ? outcome.remedies : []
        )
        await context.runtime.state.close(gate)
        return key
    }

    /// What a closed gate means for a call that comes to it: the same as for the one that has met it first.
    private static func outcome(of gate: SharedState.Gate, at now: Timestamp) -> Outcome {
        let isLockout = gate.reason == .accountLocked
        let left = gate.opensAt.map { max(.zero, $0.elapsed(since: now)) }
        // Waiting for what has no end helps nobody.
        let usual: [Outcome.Remedy] = isLockout && left == nil ? [.contactAdmin] : [.wait]
        let remedies = gate.remedies.isEmpty ? usual : gate.remedies
        var outcome = Outcome(gate.reason, scope: gate.key.scope, processed: .no, remedies: remedies)
        outcome.code = gate.code
        outcome.userMessage = gate.userMessage
        if isLockout {
            outcome.lockout = left.map(Outcome.Lockout.remaining) ?? .indefinite
        } else {
            outcome.retryAfter = left
        }
        return outcome
    }

    /// The keys of a scope's gate, the one by which it is closed first; none if the call is not of the scope.
    static func keys(
        for scope: Outcome.Scope,
        _ attempt: PlannedAttempt,
        _ credential: PresentedCredential.Identity,
        _ context: CallContext
    ) -> [SharedState.Gate.Key] {
        let request = attempt.request
        let names: [String]
        switch scope {
        case .endpoint:
            names = [context.classifier.endpointClass(method: request.method, path: request.pathWithoutQuery)]
        case .origin, .credential: names = [credential.name] + credential.formerNames
        case .account: names = context.options.account.map { [$0] } ?? []
        case .app: names = [context.options.app ?? ""]
        }
        return names.map { SharedState.Gate.Key(scope: scope, origin: attempt.origin, name: $0) }
    }
}
