public import HTTPRecovery

/// What a sign-in does about a refusal; a pure function of what was refused and how often.
public enum SignInRules {
    /// What to do next.
    @nonexhaustive public enum Reaction: Sendable, Hashable {
        /// Ask the person the same question again.
        case askAgain
        /// Have a new code sent, then ask again.
        case newChallenge
        /// Use one of these sorts of factors instead, the best first; nil allows any.
        case switchFactor([Factor.Key]?)
        /// Read at the server where the flow stands, and follow it.
        case resync
        /// Begin the flow again.
        case restart
        /// Offer the person to unlock the account.
        case unlock
        /// End with the refusal.
        case fail
    }

    /// Decides about a refusal.
    ///
    /// - Parameters:
    ///   - outcome: What the server said.
    ///   - challenge: What was answered; nil if the refusal is not about an answer.
    ///   - restarts: How often the flow was begun again so far, or read again because the server did not know it.
    ///   - resyncs: How often it was read after a lost answer since the server has last accepted one.
    ///   - isAboutName: Whether it is the name of the account that the server does not take: another password cannot help
    ///     then.
    ///   - options: How the caller wants it.
    public static func reaction(
        to outcome: Outcome,
        of challenge: Challenge?,
        restarts: Int,
        resyncs: Int = 0,
        isAboutName: Bool = false,
        options: SignInOptions
    ) -> Reaction {
        let mayAskAgain = challenge.map { $0.round < options.maxRounds } ?? false
        // What a lost answer leaves in doubt is not spent again by another beginning, before the server has accepted one.
        let mayRestart = restarts + min(max(resyncs, 0), 1) < options.maxRestarts
        // A lost answer is no fault of the flow's; reading may lead to the same question, which is bounded by its rounds.
        let mayResync = resyncs < options.maxRounds
        switch outcome.kind {
        case .passwordCompromised:
            // While the new password is chosen, "compromised" speaks of the new one.
            if challenge?.key == .newPassword { return mayAskAgain ? .askAgain : .fail }
            let fallback = options.compromisedPasswordFallback
            return fallback.isEmpty ? .fail : .switchFactor(fallback)
        case .rateLimited, .quotaExhausted:
            // A limit of the factor's own, such as for text messages: another factor helps sooner than waiting.
            return outcome.remedies.first == .switchFactor ? .switchFactor(nil) : .fail
        case .passwordExpired, .factorUnavailable:
            return outcome.remedies.contains(.switchFactor) ? .switchFactor(nil) : .fail
        case .invalidCredentials:
            guard mayAskAgain, !isAboutName else { return .fail }
            // If the flow has ended with the refusal of a code, the next code comes from a new flow. Another device
            // is bothered again only if the person wants it.
            let isCode = challenge.map { $0.key != .password && $0.key != .text && $0.key != .push } ?? false
            return isCode && outcome.remedies.contains(.restartFlow) ? .newChallenge : .askAgain
        case .challengeIncorrect where challenge?.key == .webauthn && outcome.remedies.contains(.newChallenge):
            // What was signed once cannot be signed again.
            return mayAskAgain ? .newChallenge : .fail
        case .challengeIncorrect, .passwordRejected:
            return mayAskAgain ? .askAgain : .fail
        case .challengeExpired:
            // Another device is bothered again only if the person wants it.
            if challenge?.key == .push { return mayAskAgain ? .askAgain : .fail }
            return mayAskAgain && outcome.remedies.contains(.newChallenge) ? .newChallenge : .fail
        case .userActionRequired:
            // What is wanted stands in the provider's text, and is an answer to the same question.
            return mayAskAgain && outcome.remedies.first == .askUser ? .askAgain : .fail
        case .accountLocked:
            return mayRestart && outcome.remedies.contains(.unlock) ? .unlock : .fail
        case .flowExpired:
            return mayRestart ? .restart : .fail
        case .unavailable where outcome.remedies.first == .restartFlow:
            // A fault that has left nothing of the flow.
            return mayRestart ? .restart : .fail
        case .unavailable, .transport, .timedOut:
            // Nobody knows what became of the step: it is not taken again, but where the flow stands can be read.
            return mayResync && outcome.remedies.first == .resync ? .resync : .fail
        case .stateConflict where outcome.remedies.first == .newChallenge:
            return mayAskAgain ? .newChallenge : .fail
        case .invalidRequest:
            // The field that the person filled in, in a form the server does not take: a code with a letter in it.
            return mayAskAgain && outcome.remedies.contains(.askUser) && !isAboutName ? .askAgain : .fail
        case .stateConflict, .notFound, .credentialRejected:
            // The server does not know the flow (any more), or knows it in another state.
            if outcome.remedies.contains(.resync) { return mayRestart ? .resync : .fail }
            return mayRestart && outcome.remedies.contains(.restartFlow) ? .restart : .fail
        case .unknown where outcome.remedies.first == .askUser:
            // In a word that nobody knows; what was asked for is still wanted, and the text says more.
            return mayAskAgain ? .askAgain : .fail
        case .unknown where outcome.remedies.contains(.resync):
            return mayRestart ? .resync : .fail
        default:
            return .fail
        }
    }

    /// The best of several factors by preference; those not named come last, a default before others.
    public static func best(of factors: [Factor], by preference: [Factor.Key]) -> Factor? {
        func rank(_ factor: Factor) -> (Int, Int) {
            (preference.firstIndex(of: factor.key) ?? preference.count, factor.isDefault ? 0 : 1)
        }
        return factors.min { rank($0) < rank($1) }
    }
}
