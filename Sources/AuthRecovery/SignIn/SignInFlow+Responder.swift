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
        var move = Move.input(.begin)
        while true {
            switch try await advance(move, context) {
            case .finished(let session): return session
            case .ask(let question): move = .call(Self.call(try await answer(to: question, responder), question))
            case .choose(let factors): move = .input(.choose(try await responder.choose(among: factors)))
            case .pending(let challenge, let pause):
                if case .poll(let poll) = wanted, !poll.isShown { await responder.show(challenge) }
                move = .call(try await poll(after: pause, context))
            }
        }
    }

    private func answer(to question: Challenge, _ responder: any ChallengeResponder) async throws -> Challenge.Answer {
        do {
            return try await responder.answer(question)
        } catch let error as Challenge.NoAnswer {
            throw question.unanswered.map { RecoveryError(outcome: $0, reason: .notRecoverable) } ?? error
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
