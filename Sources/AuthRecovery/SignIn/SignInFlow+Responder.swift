package import HTTPRecovery

extension SignInFlow {
    /// Runs the sign-in to its end, with a responder who answers at once, as a person at a terminal does.
    ///
    /// All of it is one operation at the client.
    ///
    /// - Parameter responder: Who answers.
    /// - Returns: The session.
    /// - Throws: `RecoveryError` for what could not be recovered from, ``Challenge/NoAnswer`` if the responder had nothing to say, and
    ///   `CancellationError`, whatever else went wrong, once the task is cancelled.
    public mutating func run(answering responder: any ChallengeResponder) async throws -> Session {
        do {
            return try await SignInContext.run(client, options: options, showing: responder) { context in
                try await follow(context, responder)
            }
        } catch {
            throw try told(error)
        }
    }

    private mutating func follow(
        _ context: SignInContext,
        _ responder: any ChallengeResponder
    ) async throws -> Session {
        var step = try await advance(.input(.begin), context)
        while true {
            switch step {
            case .finished(let session): return session
            case .ask(let question) where question.poll != nil: step = try await race(question, context, responder)
            case .ask(let question):
                let answer = try await Self.answer(to: question, responder, for: machine.openTask)
                step = try await advance(.call(Self.call(answer, question)), context)
            case .choose(let factors):
                step = try await advance(.input(.choose(try await responder.choose(among: factors))), context)
            case .pending(let challenge, let pause):
                if case .poll(let poll) = wanted, !poll.isShown { await responder.show(challenge) }
                step = try await advance(.call(try await poll(after: pause, context)), context)
            }
        }
    }

    /// What comes first while somebody is asked.
    private enum Race: Sendable {
        case answer(Challenge.Answer)
        /// Whether it is time to look, or there is no more of it.
        case time(isLeft: Bool)
    }

    /// Asks somebody, and the server meanwhile whether they have answered elsewhere: what comes first goes on.
    ///
    /// An answer that comes while the server is asked waits for that, and is not sent if it is not wanted any more.
    private mutating func race(
        _ question: Challenge,
        _ context: SignInContext,
        _ responder: any ChallengeResponder
    ) async throws -> SignInStep<Session> {
        context.showsWaits(false)
        defer { context.showsWaits(true) }
        return try await withThrowingTaskGroup(of: Race.self) { group in
            defer { group.cancelAll() }
            let task = machine.openTask
            group.addTask { .answer(try await Self.answer(to: question, responder, for: task)) }
            var pause = question.poll
            while true {
                if let next = pause { group.addTask { try await Self.wait(next, context) } }
                pause = nil
                guard let first = try await group.next() else { throw InputNotWanted() }
                switch first {
                case .answer(let answer):
                    group.cancelAll()
                    context.showsWaits(true)
                    return try await advance(.call(Self.call(answer, question)), context)
                case .time(isLeft: false): continue
                case .time(isLeft: true):
                    let step = try await advance(.call(.look(question)), context)
                    guard case .ask(let same) = step, same.isSame(as: question) else { return step }
                    pause = same.poll
                }
            }
        }
    }

    /// Waits until it is time to look.
    private static func wait(_ pause: SignInContext.Pause, _ context: SignInContext) async throws -> Race {
        do {
            try await context.wait(pause.duration, reason: pause.reason)
            return .time(isLeft: true)
        } catch is RecoveryError {
            // A bound of the caller's ends the looking; they may answer all the same.
            try Task.checkCancellation()
            return .time(isLeft: false)
        }
    }

    private static func answer(
        to question: Challenge,
        _ responder: any ChallengeResponder,
        for task: String?
    ) async throws -> Challenge.Answer {
        do {
            return try await responder.answer(question)
        } catch let error as Challenge.NoAnswer {
            throw question.unanswered.map { RecoveryError(outcome: $0, reason: .notRecoverable) }
                ?? Challenge.NoAnswer(error.key, task: error.task ?? task, cause: error.cause ?? question.refusal)
        }
    }

    private func poll(after pause: SignInContext.Pause, _ context: SignInContext) async throws -> Call {
        guard case .poll(let poll) = wanted else { throw InputNotWanted() }
        do {
            try await context.wait(pause.duration, reason: pause.reason)
            return .poll(poll, unlessBoundBy: nil)
        } catch let bound as RecoveryError {
            return .poll(poll, unlessBoundBy: bound)
        }
    }
}

extension Challenge {
    /// What has gone wrong before, so that this is asked; nil if nothing has.
    fileprivate var refusal: Outcome? {
        let known = previousFailure ?? occasion
        return known.kind.isFailure && known.kind != .challengeRequired ? known : nil
    }

    /// What it means that nobody has an answer, where that says less than what the server wants; nil elsewhere.
    package var unanswered: Outcome? {
        var outcome: Outcome
        switch key {
        // Nobody wishes for another confirmation: it ends with what became of the last one.
        case .push: return previousFailure
        case .captcha: outcome = Outcome(.challengeRequired, processed: .yes, remedies: [.solveChallenge])
        // Nobody knows where to go.
        case .redirect where url == nil:
            outcome = Outcome(.userActionRequired, processed: .yes, remedies: [.visitProvider])
        default: return nil
        }
        outcome.details = hint.flatMap { try? JSONValue(parsing: $0) }
        outcome.userMessage = previousFailure?.userMessage
        return outcome
    }
}
