public import HTTPRecovery

/// Carries a sign-in from its beginning to its session: asks the person, submits the answers, and recovers from what
/// the server refuses.
///
/// The flow is the same for every provider; a ``SignInMachine`` knows the provider's part.
public struct SignInFlow: Sendable {
    private let responder: any ChallengeResponder
    private let options: SignInOptions
    private let emit: @Sendable (RecoveryEvent.Kind) -> Void

    /// Creates a flow.
    ///
    /// - Parameters:
    ///   - responder: Who answers.
    ///   - options: How to deal with what goes wrong.
    ///   - emit: Told about challenges and fallbacks.
    public init(
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions(),
        emit: @escaping @Sendable (RecoveryEvent.Kind) -> Void = { _ in }
    ) {
        self.responder = responder
        self.options = options
        self.emit = emit
    }

    /// Runs the sign-in.
    ///
    /// - Parameters:
    ///   - machine: The provider's part.
    ///   - firstFactor: What ``SignInMachine/begin()`` already presents; a refusal of it is treated like that of an
    ///     answer.
    /// - Returns: The session.
    /// - Throws: `RecoveryError` for what could not be recovered from, ``NoAnswer`` where the responder had nothing to
    ///   say, `CancellationError` as soon as the task is cancelled.
    public func run<Machine: SignInMachine>(
        _ machine: inout Machine,
        firstFactor: Factor? = nil
    ) async throws -> Machine.Session {
        var restarts = 0
        let opening = firstFactor.map { Challenge(factor: $0) }
        var step = try await attempt(&machine, opening, &restarts) { try await $0.begin() }
        while true {
            try Task.checkCancellation()
            switch step {
            case .finished(let session):
                return session
            case .choose(let factors):
                let factor = try await choose(among: factors)
                step = try await attempt(&machine, Challenge(factor: factor), &restarts) { try await $0.choose(factor) }
            case .ask(let challenge):
                step = try await answer(challenge, with: &machine, &restarts)
            }
        }
    }

    /// Asks the person and submits what they say.
    private func answer<Machine: SignInMachine>(
        _ challenge: Challenge,
        with machine: inout Machine,
        _ restarts: inout Int
    ) async throws -> SignInStep<Machine.Session> {
        emit(.challenge(kind: challenge.key.rawValue, destination: challenge.factor.destination))
        switch try await responder.answer(challenge) {
        case .text(let text):
            return try await attempt(&machine, challenge, &restarts) { try await $0.submit(text, to: challenge) }
        case .resend:
            let factor = challenge.factor
            let step = try await attempt(&machine, challenge, &restarts) { try await $0.resend(factor) }
            // The question stays the same, and so does the count of its rounds.
            guard case .ask(var again) = step else { return step }
            again.round = challenge.round
            return .ask(again)
        case .useAnotherFactor:
            let others = try await machine.alternatives(to: challenge.factor)
            guard !others.isEmpty else { return .ask(challenge) }
            return .choose(others)
        }
    }

    /// Calls the machine, and turns a refusal into the next step where there is one.
    private func attempt<Machine: SignInMachine>(
        _ machine: inout Machine,
        _ challenge: Challenge?,
        _ restarts: inout Int,
        _ call: (inout Machine) async throws -> SignInStep<Machine.Session>
    ) async throws -> SignInStep<Machine.Session> {
        do {
            return try await call(&machine)
        } catch let error as RecoveryError {
            let reaction = SignInRules.reaction(
                to: error.outcome,
                of: challenge,
                restarts: restarts,
                options: options
            )
            if reaction != .fail { await responder.notice(error.outcome) }
            switch reaction {
            case .fail:
                throw error
            case .askAgain:
                guard var again = challenge else { throw error }
                again.round += 1
                again.previousFailure = error.outcome
                return .ask(again)
            case .newChallenge:
                guard let challenge else { throw error }
                return try await renew(challenge, after: error, with: &machine)
            case .switchFactor(let keys):
                return try await fallBack(from: challenge, to: keys, after: error, with: &machine)
            case .restart:
                restarts += 1
                return try await machine.begin()
            }
        }
    }

    private func renew<Machine: SignInMachine>(
        _ challenge: Challenge,
        after error: RecoveryError,
        with machine: inout Machine
    ) async throws -> SignInStep<Machine.Session> {
        guard case .ask(var again) = try await machine.resend(challenge.factor) else { throw error }
        again.round = challenge.round + 1
        again.previousFailure = error.outcome
        return .ask(again)
    }

    private func fallBack<Machine: SignInMachine>(
        from challenge: Challenge?,
        to keys: [AnswerKey]?,
        after error: RecoveryError,
        with machine: inout Machine
    ) async throws -> SignInStep<Machine.Session> {
        guard let failed = challenge?.factor else { throw error }
        let offered = try await machine.alternatives(to: failed)
        let allowed = offered.filter { keys?.contains($0.key) ?? true }
        guard !allowed.isEmpty else { throw error }
        let chosen = try await responder.choose(among: allowed)
        guard let factor = chosen ?? SignInRules.best(of: allowed, by: keys ?? options.preference) else { throw error }
        emit(.fallback(from: failed.key.rawValue, to: factor.key.rawValue))
        return try await machine.choose(factor)
    }

    private func choose(among factors: [Factor]) async throws -> Factor {
        if factors.count == 1, let only = factors.first { return only }
        if let chosen = try await responder.choose(among: factors), factors.contains(chosen) { return chosen }
        guard let best = SignInRules.best(of: factors, by: options.preference) else { throw NoAnswer(.choice) }
        return best
    }
}
