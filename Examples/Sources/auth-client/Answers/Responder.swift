import AuthRecovery
import HTTPRecovery

/// Answers from the file first, then from the person at the terminal, where there is one.
struct Responder: ChallengeResponder {
    let answers: AnswerFile
    let terminal: Prompts?

    func answer(_ challenge: Challenge) async throws -> ChallengeAnswer {
        if let answer = answers.take(challenge.key) { return .text(answer) }
        guard let terminal else {
            // Perhaps the server takes another proof instead, whose answer is at hand.
            if answers.mayStandIn(for: challenge.key) { return .useAnotherFactor }
            throw refusal(of: challenge)
        }
        return try await terminal.ask(challenge)
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        if let choice = answers.take(.choice) {
            let name = choice.reveal()
            let exact = factors.first { $0.providerName == name || $0.key.rawValue == name }
            guard let factor = exact ?? factors.first(where: { $0.providerName.lowercased() == name.lowercased() })
            else {
                let offered = factors.map(\.providerName).joined(separator: ", ")
                throw InputError("the choice \"\(name)\" is not offered; the server offers \(offered)")
            }
            return factor
        }
        let ready = factors.filter { answers.has($0.key) }
        if let factor = ready.first(where: \.isDefault) ?? ready.first { return factor }
        return try await terminal?.choose(among: factors)
    }

    func notice(_ outcome: Outcome) async {
        terminal?.tell(outcome.userMessage ?? outcome.kind.userMessage)
    }

    /// Nobody is there to answer: a wrong password is then what ends the sign-in; for anything else an answer is
    /// missing.
    private func refusal(of challenge: Challenge) -> any Error {
        if challenge.key == .password, let failure = challenge.previousFailure {
            return RecoveryError(outcome: failure, reason: .notRecoverable)
        }
        return NoAnswer(challenge.key)
    }
}
