public import HTTPRecovery

/// Carries a sign-in from its beginning to its session: asks the person, submits the answers, and recovers from what
/// the server refuses.
///
/// The flow is the same for every provider; a ``SignInMachine`` knows the provider's part. ``SignInRules`` decides
/// about every refusal, whichever call met it.
public struct SignInFlow: Sendable {
    private let responder: any ChallengeResponder
    private let options: SignInOptions
    private let occasion: Outcome
    private let emit: @Sendable (RecoveryEvent.Kind) -> Void

    /// Creates a flow.
    ///
    /// - Parameters:
    ///   - responder: Who answers.
    ///   - options: How to deal with what goes wrong.
    ///   - occasion: What has called for it, such as a refusal that wants a step up; by default nothing in particular.
    ///   - emit: Told about challenges and fallbacks.
    public init(
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions(),
        because occasion: Outcome = Outcome(.challengeRequired),
        emit: @escaping @Sendable (RecoveryEvent.Kind) -> Void = { _ in }
    ) {
        self.responder = responder
        self.options = options
        self.occasion = occasion
        self.emit = emit
    }

    /// Runs the sign-in.
    ///
    /// - Parameter machine: The provider's part.
    /// - Returns: The session.
    /// - Throws: `RecoveryError` for what could not be recovered from, ``NoAnswer`` where the responder had nothing to
    ///   say, and `CancellationError`, whatever else went wrong, once the task is cancelled.
    public func run<Machine: SignInMachine>(_ machine: inout Machine) async throws -> Machine.Session {
        do {
            return try await follow(&machine)
        } catch {
            // A responder or a store may have its own word for being cancelled.
            try Task.checkCancellation()
            throw (error as? RecoveryError)?.toldToWhoSignsIn ?? error
        }
    }

    /// What is done next.
    private enum Move {
        case call(Call)
        case ask(Challenge)
        case pick([Factor], Detour?)
    }

    /// A call of the machine.
    private enum Call {
        case begin
        /// After a step whose outcome is not known, with the error of it.
        case resync(after: RecoveryError?)
        case choose(Factor)
        case submit(Secret, Challenge)
        /// Another code, because the last one is of no use any more, or because the person wishes for one.
        case resend(Challenge, isWish: Bool = false)
        case replace(Detour)
    }

    /// The way from one factor to another.
    private struct Detour {
        var question: Challenge
        /// The sorts of factors that may stand in; nil allows any.
        var keys: [AnswerKey]?
        /// Why another is needed; nil where the person wants one.
        var refusal: RecoveryError?
    }

    private func follow<Machine: SignInMachine>(_ machine: inout Machine) async throws -> Machine.Session {
        var progress = SignInProgress(maxRounds: options.maxRounds)
        var move = Move.call(.begin)
        // What the person is asked for is owed to this, until an answer is accepted.
        var occasion = self.occasion
        while true {
            try Task.checkCancellation()
            try progress.countMove()
            switch move {
            case .ask(let question):
                move = .call(try await ask(question))
            case .pick(let factors, let detour):
                move = try await pick(among: factors, detour, &progress)
            case .call(let call):
                let opening = machine.openingFactor.map { progress.numbered(Challenge(factor: $0)) }
                let step: SignInStep<Machine.Session>
                do {
                    step = try await perform(call, with: &machine)
                } catch let refusal as RecoveryError {
                    // A code that was wished for and not sent changes nothing about what is asked.
                    if case .resend(_, isWish: true) = call {} else { occasion = refusal.outcome }
                    move = try await react(to: refusal, of: call, opening, machine.unlockFactors, &progress)
                    continue
                }
                let accepted: Challenge? = if case .submit(_, let challenge) = call { challenge } else { nil }
                if accepted != nil { occasion = self.occasion }
                switch step {
                case .finished(let session): return session
                case .ask(var question):
                    question = next(question, after: call, progress)
                    // The person is told why before they are asked; of a refusal they were told when it came.
                    if question.occasion != Self.usual {
                        if question.round == 1 { await responder.notice(question.occasion) }
                    } else {
                        question.occasion = question.previousFailure ?? occasion
                    }
                    move = .ask(question)
                case .choose(let factors): move = .pick(factors, detour(of: call))
                }
                if let accepted { try progress.countAcceptance(of: accepted.factor) }
            }
        }
    }

    /// Why something is asked where nothing has gone wrong.
    private static let usual = Outcome(.challengeRequired)

    /// How long somebody who could go on without it waits for another code.
    private static let patience = Duration.seconds(5)

    private func perform<Machine: SignInMachine>(
        _ call: Call,
        with machine: inout Machine
    ) async throws -> SignInStep<Machine.Session> {
        switch call {
        case .begin: try await machine.begin()
        case .resync: try await machine.resync()
        case .choose(let factor): try await machine.choose(factor)
        case .submit(let answer, let challenge): try await machine.submit(answer, to: challenge)
        // Meanwhile the code that was sent before may arrive: then nobody wants to sit out a limit on new ones.
        case .resend(let challenge, isWish: true) where challenge.key.isSent:
            try await machine.resend(challenge.factor, waitingAtMost: Self.patience)
        case .resend(let challenge, _): try await machine.resend(challenge.factor, waitingAtMost: nil)
        case .replace(let detour): try await machine.replace(detour.question.factor, after: detour.refusal)
        }
    }

    /// The question that follows a call.
    private func next(_ question: Challenge, after call: Call, _ progress: SignInProgress) -> Challenge {
        var question = progress.numbered(question)
        // A new code, the same question.
        if case .resend(let before, _) = call { question.previousFailure = before.previousFailure }
        return question
    }

    private func detour(of call: Call) -> Detour? {
        if case .replace(let detour) = call { detour } else { nil }
    }

    /// Asks the person.
    private func ask(_ question: Challenge) async throws -> Call {
        // A question may be about the person, and is no address: it is for them alone.
        let destination = question.key == .securityAnswer ? nil : question.factor.destination
        emit(.challenge(kind: question.key.rawValue, destination: destination))
        switch try await answer(to: question) {
        case .text(let text): return .submit(text, question)
        case .resend: return .resend(question, isWish: true)
        case .useAnotherFactor: return .replace(Detour(question: question))
        }
    }

    private func answer(to question: Challenge) async throws -> ChallengeAnswer {
        do {
            return try await responder.answer(question)
        } catch let error as NoAnswer {
            // Nobody wishes for another confirmation: it ends with what became of the last one.
            guard question.key == .push, let failure = question.previousFailure else { throw error }
            throw RecoveryError(outcome: failure, reason: .notRecoverable)
        }
    }

    /// What follows a refusal.
    private func react(
        to refusal: RecoveryError,
        of call: Call,
        _ opening: Challenge?,
        _ unlocks: [Factor],
        _ progress: inout SignInProgress
    ) async throws -> Move {
        // That was no word of the server's: somebody else has signed in on this machine meanwhile.
        if refusal.reason == .identityChanged { throw refusal }
        // Where the server does not tell, the step stays in doubt.
        if case .resync(let doubt?) = call, refusal.tellsNothing { throw doubt }
        if case .resend(let challenge, isWish: true) = call, refusal.isOfTooManyCodes {
            await responder.notice(refusal.outcome)
            return .ask(challenge)
        }
        let (answered, tried) = subject(of: call, opening, progress)
        let reaction = SignInRules.reaction(
            to: refusal.outcome,
            of: answered,
            restarts: progress.restarts,
            options: options
        )
        var move: Move?
        switch reaction {
        case .fail:
            break
        case .askAgain:
            move = answered.map { .ask(progress.again($0, after: refusal.outcome)) }
        case .newChallenge:
            move = answered.map { .call(.resend(progress.again($0, after: refusal.outcome))) }
        case .switchFactor(let keys):
            if let tried {
                progress.discard(tried.factor)
                move = .call(.replace(Detour(question: tried, keys: keys, refusal: refusal)))
            }
        case .resync:
            // The caller's bounds leave no time to read either.
            if refusal.isOfNoAnswer, refusal.isBounded { break }
            progress.countRestart()
            move = .call(.resync(after: refusal.isOfNoAnswer ? refusal : nil))
        case .restart:
            progress.countRestart()
            move = .call(.begin)
        case .unlock:
            guard !unlocks.isEmpty else { break }
            // The person is told why before they are asked what to do about it.
            await responder.notice(refusal.outcome)
            guard let way = try await responder.choose(among: unlocks), unlocks.contains(way) else { break }
            progress.countRestart()
            return .call(.choose(way))
        }
        guard let move else { throw refusal }
        await responder.notice(refusal.outcome)
        return move
    }

    /// What a call was about: the question that it answered, and the one whose factor it tried.
    private func subject(
        of call: Call,
        _ opening: Challenge?,
        _ progress: SignInProgress
    ) -> (answered: Challenge?, tried: Challenge?) {
        switch call {
        case .begin: (opening, opening)
        case .submit(_, let challenge): (challenge, challenge)
        // Of these, the person answers on another device, while the call lasts.
        case .choose(let factor) where factor.key == .push:
            (progress.numbered(Challenge(factor: factor)), Challenge(factor: factor))
        case .resend(let challenge, _) where challenge.key == .push: (challenge, challenge)
        case .choose(let factor): (nil, Challenge(factor: factor))
        case .resend(let challenge, _): (nil, challenge)
        case .resync, .replace: (nil, nil)
        }
    }

    /// Decides between the factors that the server offers.
    private func pick(
        among offered: [Factor],
        _ detour: Detour?,
        _ progress: inout SignInProgress
    ) async throws -> Move {
        var factors = progress.usable(offered)
        if let detour {
            factors.removeAll { $0.isSame(as: detour.question.factor) }
            if let keys = detour.keys { factors.removeAll { !keys.contains($0.key) } }
            if factors.isEmpty {
                // Nothing can stand in: then the refusal stands, or the person is asked for the same again.
                if let refusal = detour.refusal { throw refusal }
                return .ask(detour.question)
            }
        } else if factors.isEmpty {
            factors = offered
        }
        // Who has chosen is not asked again because the flow had to begin again; but a wish is a new choice.
        let isWish = detour.map { $0.refusal == nil } ?? false
        let factor: Factor
        if !isWish, let before = progress.standingChoice(among: factors) {
            factor = before
        } else {
            factor = try await choose(among: factors, by: detour?.keys ?? options.preference)
        }
        progress.choose(factor, insteadOf: detour?.question.factor)
        if let detour, detour.refusal != nil {
            emit(.fallback(from: detour.question.key.rawValue, to: factor.key.rawValue))
        }
        return .call(.choose(factor))
    }

    private func choose(among factors: [Factor], by preference: [AnswerKey]) async throws -> Factor {
        if factors.count == 1, let only = factors.first { return only }
        if !factors.isEmpty, let chosen = try await responder.choose(among: factors), factors.contains(chosen) {
            return chosen
        }
        guard let best = SignInRules.best(of: factors, by: preference) else {
            throw RecoveryError(outcome: Outcome(.factorUnavailable), reason: .notRecoverable)
        }
        return best
    }
}

extension RecoveryError {
    /// The error in words for somebody who signs in: of no session that has ended, unless one is found to have.
    fileprivate var toldToWhoSignsIn: RecoveryError {
        let isOver =
            outcome.tokenAction == .clear
            && outcome.credential.map { [.access, .session, .refresh, .id].contains($0) } ?? true
        guard kind == .credentialRejected, outcome.userMessage == nil, !isOver else { return self }
        var error = self
        error.outcome.userMessage = "The service has refused the sign-in. Please start it again."
        return error
    }

    /// Whether another code is refused for now, while the one before stays good.
    fileprivate var isOfTooManyCodes: Bool {
        kind == .rateLimited || kind == .quotaExhausted
    }

    /// Whether the server has given no answer that tells where the flow stands.
    fileprivate var isOfNoAnswer: Bool {
        [.transport, .timedOut, .unavailable].contains(kind)
    }

    /// Whether it says nothing about the flow that was asked about.
    fileprivate var tellsNothing: Bool {
        isOfNoAnswer || isOfTooManyCodes || [.unreadable, .unknown, .invalidRequest].contains(kind)
    }

    /// Whether it was a bound of the caller's that ended the call.
    fileprivate var isBounded: Bool {
        [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit].contains(reason)
    }
}
