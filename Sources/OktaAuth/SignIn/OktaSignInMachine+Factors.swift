import AuthRecovery
import HTTPRecovery

/// Verifying factors.
extension OktaSignInMachine {
    /// The factors of which one is wanted now: after the password, or in its place.
    var offer: OktaFactorRequired? {
        switch state {
        case .factorRequired(let required): required
        case .unauthenticated(let waiting) where waiting.factors.contains { !$0.links["verify"].isEmpty }:
            OktaFactorRequired(stage: waiting.stage)
        default: nil
        }
    }

    /// What can be chosen among the factors of an offer; the password too, where the server would take it.
    func choices(_ offer: OktaFactorRequired) -> [Factor] {
        let factors = offer.factors.filter { !$0.links["verify"].isEmpty }.compactMap(\.factor)
        guard case .unauthenticated(let waiting) = state, waiting.authenticate != nil else { return factors }
        return factors + [Self.passwordFactor]
    }

    /// Begins to verify a factor that was chosen.
    mutating func verify(
        _ chosen: OktaFactor,
        _ factor: Factor,
        _ required: OktaFactorRequired
    ) async throws -> SignInStep<OktaSession> {
        hasUsedFactors = true
        switch chosen.type {
        case .push: return try await sendPush(factor, isWished: pushes == 0)
        case .question: return .ask(Challenge(factor: factor, prompt: chosen.question))
        case .webAuthn:
            guard let step = required.verify(chosen) else { throw missing("verify") }
            return try await follow { _ in try await step.perform(.start) }
        case .sms, .call, .email:
            return try await sendCode(chosen, factor, required)
        default: return .ask(Challenge(factor: factor))
        }
    }

    /// Has the code of a factor sent: once in a transaction, and again only if it is wished for.
    mutating func sendCode(
        _ chosen: OktaFactor,
        _ factor: Factor,
        _ required: OktaFactorRequired,
        isWished: Bool = false
    ) async throws -> SignInStep<OktaSession> {
        guard isWished || !sent.contains(where: factor.isSame) else { return .ask(Challenge(factor: factor)) }
        guard let step = required.send(chosen)?.waiting(atMost: patience) else { throw missing("verify") }
        hasUsedFactors = true
        sent.append(factor)
        do {
            return try await follow { _ in try await step.perform(.start) }
        } catch let error as RecoveryError {
            // The code that was sent a moment ago serves as well.
            if error.outcome.wasSentBefore {
                return .ask(Challenge(factor: factor, previousFailure: error.outcome))
            }
            if error.outcome.processed == .no { sent.removeAll(where: factor.isSame) }
            throw error
        }
    }

    /// Submits a code or an answer.
    mutating func submit(_ answer: OktaFactorAnswer, of challenge: Challenge) async throws -> SignInStep<OktaSession> {
        if challenge.factor.id == Self.newQuestion, case .enrolling(let enrolling) = state {
            return try await enroll(answer, to: challenge.factor, enrolling)
        }
        let step: OktaStep<OktaFactorAnswer>? =
            switch state {
            case .factorRequired, .unauthenticated: verification(of: challenge.factor)
            case .factorChallenge(let challenge): challenge.verify
            case .activating(let activating): activating.activate
            case .recoveryChallenge(let challenge): challenge.verify
            case .recovery(let recovery): recovery.answer
            default: nil
            }
        guard let step else { throw missing("verify") }
        let remembering = remembering(answer)
        do {
            return try await follow { _ in try await step.perform(remembering) }
        } catch let error as RecoveryError where error.outcome.isOfAnotherWindow {
            try await context?.waitForNextCode()
            throw error
        }
    }

    /// An answer that verifies a factor, with what the org is to remember of the device.
    func remembering(_ answer: OktaFactorAnswer) -> OktaFactorAnswer {
        switch state {
        case .factorRequired, .factorChallenge:
            var answer = answer
            answer.remembersDevice = api.configuration.remembersDevice
            return answer
        default: return answer
        }
    }

    /// Says what a factor wants that is being verified.
    mutating func follow(_ challenge: OktaFactorChallenge) async throws -> SignInStep<OktaSession> {
        guard let verified = challenge.factor, let factor = verified.factor else {
            throw failure(.factorUnavailable, [.switchFactor])
        }
        hasUsedFactors = true
        switch verified.type {
        case .push: return try await awaitPush(.factorChallenge(challenge), factor)
        case .webAuthn: return try await sign(challenge, verified, factor)
        default: return .ask(Challenge(factor: factor, prompt: verified.question))
        }
    }

    /// The step that verifies a factor of the offer.
    private func verification(of factor: Factor) -> OktaStep<OktaFactorAnswer>? {
        offer.flatMap { offer in
            offer.factors.first { $0.factor?.isSame(as: factor) == true }.flatMap(offer.verify)
        }
    }

    // MARK: Push

    /// Sends a push, and waits for the person; another one only if they have asked for it.
    mutating func sendPush(_ factor: Factor, isWished: Bool) async throws -> SignInStep<OktaSession> {
        guard isWished else {
            let failure = failure(.challengeExpired, [.newChallenge, .switchFactor]).outcome
            return .ask(Challenge(factor: factor, previousFailure: failure))
        }
        let step: OktaStep<OktaFactorAnswer>? =
            switch state {
            case .factorRequired, .unauthenticated: verification(of: factor)
            case .factorChallenge(let challenge): challenge.verify ?? challenge.again
            // What the person had to scan has run out: the link makes it anew.
            case .activating(let activating): activating.activate
            default: nil
            }
        guard let step else { throw missing("verify") }
        pushes += 1
        hasUsedFactors = true
        let start = remembering(.start)
        return try await follow { _ in try await step.perform(start) }
    }

    /// Waits until a push was answered.
    mutating func awaitPush(_ waiting: OktaState, _ factor: Factor) async throws -> SignInStep<OktaSession> {
        guard waiting.poll != nil else {
            // It is over in a way that nobody knows, and nobody has wished for another one.
            let unknown = failure(.unknown, [.newChallenge, .switchFactor])
            return .ask(Challenge(factor: factor, previousFailure: unknown.outcome))
        }
        polling = OktaPolling(waiting, factor: factor, interval: api.configuration.pollInterval)
        return try await askAfterPush(.begun)
    }

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<OktaSession> {
        try await askAfterPush(bound.map { .notPaused($0) } ?? .paused)
    }

    /// Asks after the push as its plan says, up to the next pause.
    private mutating func askAfterPush(
        _ event: RecoveryOperation.Event<OktaState?>
    ) async throws -> SignInStep<OktaSession> {
        guard var plan = polling, let context else { return try await resync() }
        polling = nil
        do {
            switch try await context.operation.advance(&plan, after: event, api.perform) {
            case .finished(let next): return try await follow(next)
            case .pausing(let duration, let reason):
                polling = plan
                return .pending(plan.challenge, SignInContext.Pause(duration, reason: reason))
            }
        } catch let error as RecoveryError {
            note(error)
            throw error
        }
    }
}

extension OktaFactorChallenge {
    /// What sends a push again: the link that the server offers for it.
    fileprivate var again: OktaStep<OktaFactorAnswer>? {
        resend.map { resend in
            OktaStep(link: resend.link, api: stage.api, stateToken: transaction.stateToken) { $0.members }
        }
    }
}

extension Outcome {
    /// Whether a code was sent a moment ago, so that no other one is sent.
    fileprivate var wasSentBefore: Bool {
        kind == .rateLimited && remedies.contains(.askUser)
    }
}
