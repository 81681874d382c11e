import HTTPRecovery

/// How a step is taken: move by move, until something is wanted from outside.
extension SignInFlow {
    /// What is done next.
    enum Move {
        case input(SignInInput)
        case call(Call)
        case ask(Challenge)
        case pick([Factor], SignInDetour?)
        case unlock([Factor], RecoveryError)
    }

    /// A call of the machine.
    enum Call {
        case begin
        /// After a step whose outcome is not known, with the error of it and the question that it answered.
        case resync(after: RecoveryError?, of: Challenge? = nil)
        case choose(Factor)
        case submit(Secret, Challenge)
        /// Another code, because the last one is of no use any more, or because the person wishes for one.
        case resend(Challenge, isWish: Bool = false)
        case replace(SignInDetour)
        /// Whether somebody has answered elsewhere; not asked if the pause before was not made.
        case poll(SignInWanted.Poll, unlessBoundBy: RecoveryError?)
        /// Whether somebody has answered a question elsewhere that is asked here too.
        case look(Challenge)
    }

    mutating func advance(_ first: Move, _ context: SignInContext) async throws -> SignInStep<Session> {
        var move = first
        while true {
            try Task.checkCancellation()
            if move.isCounted { try progress.countMove() }
            switch move {
            case .input(let input):
                guard let next = try self.move(for: input, context) else { return try presented(context) }
                move = next
            case .ask(let question):
                context.emit(question)
                return ask(question, context)
            case .pick(let factors, let detour):
                guard let next = try pick(among: factors, detour, context) else { return try presented(context) }
                move = next
            case .unlock(let ways, let refusal):
                wanted = .unlocking(ways, refusal)
                return .choose(ways)
            case .call(let call):
                let origin = origin(of: call)
                if case .begin = call { wanted = .beginning }
                let step: SignInStep<Session>
                let isLook = if case .look = call { true } else { false }
                machine.enter(isLook ? context : context.submitting(origin.submitted))
                do {
                    step = try await perform(call)
                } catch let refusal as RecoveryError {
                    // A code that was wished for and not sent changes nothing about what is asked.
                    if !origin.isWish { occasion = refusal.outcome }
                    move = try await react(to: refusal, of: origin, context)
                    continue
                }
                let accepted: Challenge? = if case .submit(_, let challenge) = call { challenge } else { nil }
                if accepted != nil { occasion = cause }
                switch step {
                case .ask(let same) where isLook && same.factor.isSame(as: origin.tried?.factor ?? same.factor):
                    // What was told of the last answer holds on; only the next look has its own time.
                    var question = origin.tried ?? same
                    question.poll = same.poll
                    return ask(question, context)
                case .finished:
                    wanted = .nothing
                    return step
                case .ask(let question):
                    await tellOfDoubt(origin, among: [question.factor], context)
                    move = .ask(await explained(question, origin, context))
                case .choose(let factors):
                    await tellOfDoubt(origin, among: factors, context)
                    move = .pick(factors, origin.detour)
                case .pending(let challenge, let pause):
                    if let accepted { try progress.countAcceptance(of: accepted.factor) }
                    return wait(for: challenge, pause, origin, context)
                }
                if let accepted { try progress.countAcceptance(of: accepted.factor) }
            }
        }
    }

    /// Why something is asked if nothing has gone wrong.
    private static var usual: Outcome { Outcome(.challengeRequired) }

    /// How long somebody who could go on without it waits for another code.
    private static var patience: Duration { .seconds(5) }

    private mutating func perform(_ call: Call) async throws -> SignInStep<Session> {
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
        case .poll(_, let bound): try await machine.poll(unlessBoundBy: bound)
        case .look: try await machine.poll(unlessBoundBy: nil)
        }
    }

    /// What a call is about: the question that it answers, and the one whose factor it tries.
    private func origin(of call: Call) -> SignInCallSource {
        switch call {
        case .begin:
            let opening = machine.openingFactor.map { progress.numbered(Challenge(factor: $0)) }
            return SignInCallSource(answered: opening, tried: opening)
        case .submit(_, let challenge): return SignInCallSource(answered: challenge, tried: challenge)
        // Of these, the person answers on another device.
        case .choose(let factor) where factor.key == .push:
            return SignInCallSource(
                answered: progress.numbered(Challenge(factor: factor)),
                tried: Challenge(factor: factor)
            )
        case .resend(let challenge, let isWish):
            let answered = challenge.key == .push ? challenge : nil
            return SignInCallSource(answered: answered, tried: challenge, resent: challenge, isWish: isWish)
        case .choose(let factor): return SignInCallSource(tried: progress.numbered(Challenge(factor: factor)))
        case .resync(let doubt, let question): return SignInCallSource(doubt: doubt, doubted: question)
        case .replace(let detour): return SignInCallSource(detour: detour)
        case .poll(let poll, _): return poll.origin
        case .look(let challenge): return SignInCallSource(answered: challenge, tried: challenge)
        }
    }

    // MARK: What is wanted from outside

    /// What an input leads to; nil if it comes too early, so that nothing changes.
    private mutating func move(for input: SignInInput, _ context: SignInContext) throws -> Move? {
        switch (input, wanted) {
        case (.begin, .beginning), (.resync, .beginning): return .call(.begin)
        case (_, .nothing): break
        case (.resync, _): return .call(.resync(after: nil))
        case (.answer(let answer), .answer(let question, _)): return .call(Self.call(answer, question))
        case (.poll, .answer(let question, .some)):
            return isEarly(for: input, at: context.wallTime) ? nil : .call(.look(question))
        case (.choose(let factor), .choice(let factors, let detour)):
            return try choose(factor, among: factors, detour, context)
        case (.choose(let factor), .unlocking(let ways, let refusal)):
            guard let factor, let way = ways.first(where: factor.isSame) else { throw refusal }
            progress.countRestart()
            return .call(.choose(way))
        case (.answer(.resend), .poll(let poll)): return .call(.resend(poll.challenge, isWish: true))
        case (.answer(.useAnotherFactor), .poll(let poll)):
            return .call(.replace(SignInDetour(question: poll.challenge)))
        case (.poll, .poll(let poll)):
            return isEarly(for: input, at: context.wallTime) ? nil : .call(.poll(poll, unlessBoundBy: nil))
        default: break
        }
        throw InputNotWanted()
    }

    static func call(_ answer: Challenge.Answer, _ question: Challenge) -> Call {
        switch answer {
        case .text(let text): .submit(text, question)
        case .resend: .resend(question, isWish: true)
        case .useAnotherFactor: .replace(SignInDetour(question: question))
        }
    }

    /// Asks a question, and says from when on it may be looked whether it was answered elsewhere.
    private mutating func ask(_ question: Challenge, _ context: SignInContext) -> SignInStep<Session> {
        wanted = .answer(question, pollsAt: question.poll.map { context.wallTime.advanced(by: $0.duration) })
        return .ask(question)
    }

    private func presented(_ context: SignInContext) throws -> SignInStep<Session> {
        guard let step = present(at: context.wallTime) else { throw InputNotWanted() }
        return step
    }

    /// What is wanted now, once more; nil before the beginning and after the end.
    func present(at now: Timestamp) -> SignInStep<Session>? {
        switch wanted {
        case .answer(let question, let pollsAt): .ask(question.polled(in: pollsAt?.elapsed(since: now)))
        case .choice(let factors, _), .unlocking(let factors, _): .choose(factors)
        case .poll(let poll):
            .pending(poll.challenge, SignInContext.Pause(poll.opensAt.elapsed(since: now), reason: poll.pause.reason))
        case .beginning, .nothing: nil
        }
    }

    /// Whether the input asks too early whether somebody has answered elsewhere.
    func isEarly(for input: SignInInput, at now: Timestamp) -> Bool {
        switch (input, wanted) {
        case (.poll, .poll(let poll)): poll.opensAt > now
        case (.poll, .answer(_, let pollsAt?)): pollsAt > now
        default: false
        }
    }

    /// The question that is asked now.
    var question: Challenge? {
        if case .answer(let question, _) = wanted { question } else { nil }
    }

    /// Whether nothing leads on any more.
    var isOver: Bool {
        if case .nothing = wanted { true } else { false }
    }

    private mutating func wait(
        for challenge: Challenge,
        _ pause: SignInContext.Pause,
        _ origin: SignInCallSource,
        _ context: SignInContext
    ) -> SignInStep<Session> {
        let isShown = if case .poll(let before) = wanted { before.challenge == challenge } else { false }
        if !isShown { context.emit(challenge) }
        // What was accepted before is not what is waited for, and not what a refusal is about.
        let isOther = origin.answered.map { !$0.factor.isSame(as: challenge.factor) } ?? false
        let origin =
            isOther ? SignInCallSource(answered: progress.numbered(challenge), tried: challenge) : origin
        let opensAt = context.wallTime.advanced(by: pause.duration)
        let poll = SignInWanted.Poll(
            challenge: challenge,
            isShown: isShown,
            pause: pause,
            opensAt: opensAt,
            origin: origin
        )
        wanted = .poll(poll)
        return .pending(challenge, pause)
    }

    /// Tells of an answer that was lost if what it answered is wanted once more: it has not arrived.
    private func tellOfDoubt(_ origin: SignInCallSource, among factors: [Factor], _ context: SignInContext) async {
        guard let doubt = origin.doubt, let doubted = origin.doubted?.factor, factors.contains(where: doubted.isSame)
        else { return }
        await context.notice(doubt.outcome)
    }

    /// The question that follows a call, after the person was told why it is asked.
    private func explained(
        _ question: Challenge,
        _ origin: SignInCallSource,
        _ context: SignInContext
    ) async -> Challenge {
        var question = progress.numbered(question)
        // A new code, the same question.
        if let before = origin.resent { question.previousFailure = before.previousFailure }
        // Of a refusal they were told when it came.
        if question.occasion != Self.usual {
            if question.round == 1 { await context.notice(question.occasion) }
        } else {
            question.occasion = question.previousFailure ?? occasion
        }
        return question
    }

    // MARK: Refusals

    /// What follows a refusal.
    private mutating func react(
        to refusal: RecoveryError,
        of origin: SignInCallSource,
        _ context: SignInContext
    ) async throws -> Move {
        // That was no word of the server's: somebody else has signed in on this machine meanwhile.
        if refusal.reason == .identityChanged { throw refusal }
        // If the server does not tell, the step stays in doubt.
        if let doubt = origin.doubt, refusal.tellsNothing { throw doubt }
        if origin.isWish, let challenge = origin.resent, refusal.isOfTooManyCodes {
            await context.notice(refusal.outcome)
            return .ask(challenge)
        }
        if refusal.reason == .lockoutOver, let question = origin.submitted, progress.countLockout() {
            await context.notice(refusal.outcome)
            let again = progress.again(question, after: refusal.outcome)
            // What was signed once cannot be signed again.
            return question.key == .webauthn ? .call(.resend(again)) : .ask(again)
        }
        // An authenticator that answers by itself may do so again, to another challenge.
        let signed = refusal.remedies.first == .newChallenge ? origin.submitted : nil
        let reaction = SignInRules.reaction(
            to: refusal.outcome,
            of: origin.answered ?? signed,
            restarts: progress.restarts,
            resyncs: progress.resyncs,
            isAboutName: machine.isAboutName(refusal.outcome),
            options: options
        )
        var move: Move?
        switch reaction {
        case .fail:
            break
        case .askAgain:
            move = origin.answered.map { .ask(progress.again($0, after: refusal.outcome)) }
        case .newChallenge:
            move = (origin.answered ?? signed).map { .call(.resend(progress.again($0, after: refusal.outcome))) }
        case .switchFactor(let keys):
            if let tried = origin.tried {
                progress.discard(tried.factor)
                move = .call(.replace(SignInDetour(question: tried, keys: keys, refusal: refusal)))
            }
        case .resync:
            // The caller's bounds leave no time to read either.
            if refusal.isOfNoAnswer, refusal.isBounded { break }
            if refusal.isOfNoAnswer { progress.countResync() } else { progress.countRestart() }
            move = .call(.resync(after: refusal.isOfNoAnswer ? refusal : nil, of: origin.answered))
        case .restart:
            progress.countRestart()
            move = .call(.begin)
        case .unlock:
            let ways = machine.unlockFactors
            if !ways.isEmpty { move = .unlock(ways, refusal) }
        }
        guard let move else { throw refusal }
        // Of an answer that was lost there is nothing to say before it is read what became of the step.
        if case .call(.resync(after: .some, _)) = move { return move }
        // The person is told why before they are asked what to do about it.
        await context.notice(refusal.outcome)
        return move
    }
}

extension SignInFlow.Move {
    /// Whether it is one more move of those that a sign-in may take; how often is polled, the server bounds.
    fileprivate var isCounted: Bool {
        switch self {
        case .input, .unlock, .call(.poll), .call(.look): false
        default: true
        }
    }
}

extension Challenge {
    /// Whether it is another's question in all but the time of the next look.
    func isSame(as other: Challenge?) -> Bool {
        var same = self
        same.poll = other?.poll
        return same == other
    }

    /// The same with what is left of the pause before the next look.
    fileprivate func polled(in rest: Duration?) -> Challenge {
        var question = self
        question.poll = poll.flatMap { poll in rest.map { SignInContext.Pause($0, reason: poll.reason) } }
        return question
    }
}

extension SignInContext {
    fileprivate var wallTime: Timestamp { operation.context.runtime.time.wallTime }

    /// Tells that somebody is asked.
    fileprivate func emit(_ question: Challenge) {
        // A question may be about the person, and is no address: it is for them alone.
        let destination = question.key == .securityAnswer ? nil : question.factor.destination
        emit(.challenge(kind: question.key.rawValue, destination: destination))
    }
}
