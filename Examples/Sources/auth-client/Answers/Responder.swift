import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// Answers from the file first, then from the person at the terminal, if there is one.
struct Responder: ChallengeResponder {
    let answers: AnswerFile
    let terminal: Prompts?
    /// Whether security keys can be asked without the person.
    var hasSecurityKey = false
    /// Takes the person to a page and returns where the browser came back; nil if that cannot be listened to.
    var visit: @Sendable (_ challenge: Challenge) async throws -> Secret? = { _ in nil }
    /// Waits for the link of an e-mail to come back to this machine; nil if that cannot be listened to.
    var link: @Sendable () async throws -> Secret? = { nil }
    /// Tells the person something, also if they cannot be asked.
    var tell: @Sendable (ScreenText) -> Void = { _ in }
    /// Shows what comes once and has to be kept, wherever that can be read.
    var display: @Sendable (ScreenText) -> Void = { _ in }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        if challenge.key == .push { return try await answer(toPush: challenge) }
        if let answer = answers.take(challenge.key) {
            // What is shown once is shown, though nobody has to be asked; whoever knows an app's code has the app set up.
            if challenge.setup != nil, challenge.key != .totp { await show(challenge) }
            return .text(answer)
        }
        if challenge.key == .redirect, let end = try await visit(challenge) { return .text(end) }
        if challenge.key == .emailLink, let end = try await link() { return .text(end) }
        guard let terminal else {
            // Perhaps the server takes another proof instead, whose answer is at hand.
            if answers.mayStandIn(for: challenge.key) { return .useAnotherFactor }
            throw refusal(of: challenge)
        }
        return try await terminal.ask(challenge)
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        if let factor = answers.takeChoice(among: factors) { return factor }
        let ready = factors.filter { answers.has($0.key) }
        if let factor = ready.first(where: \.isDefault) ?? ready.first { return factor }
        guard let terminal else { return nil }
        // A person at a terminal cannot type what a security key says.
        let usable = hasSecurityKey ? factors : factors.filter { $0.key != .webauthn }
        if usable.count == 1, factors.count > 1 { return usable.first }
        return try await terminal.choose(among: usable.isEmpty ? factors : usable)
    }

    func show(_ challenge: Challenge) async {
        for line in Prompts.shown(challenge, on: terminal?.terminal) {
            // What was said just before is not said again.
            if let terminal { terminal.tell(line, isRepeated: false) } else { display(line) }
        }
    }

    func notice(_ outcome: Outcome) async {
        guard let terminal else { return }
        var text: ScreenText = "\(outcome.userMessage ?? outcome.kind.userMessage, limit: 500)"
        if let wait = outcome.statedWait, wait >= .seconds(1) {
            text = "\(text) It is worth trying again in \(HumanTime.text(wait))."
        }
        // What is said while the same thing is waited for needs no line each time.
        terminal.tell(text, isRepeated: outcome.isFailure && outcome.kind != .challengePending)
    }

    /// A push is answered on the phone; what can be wished for here is another one, or another way.
    private func answer(toPush challenge: Challenge) async throws -> Challenge.Answer {
        while let wish = answers.take(.push) {
            switch wish.reveal() {
            case "resend": return .resend
            case "other": return .useAnotherFactor
            default: continue
            }
        }
        guard let terminal else { throw Challenge.NoAnswer(.push) }
        return try await terminal.ask(challenge)
    }

    /// Nobody is there to answer: a wrong password is then what ends the sign-in; for anything else, and once a lock was waited
    /// out, an answer is missing.
    private func refusal(of challenge: Challenge) -> any Error {
        if challenge.key == .password, let failure = challenge.previousFailure, failure.kind != .accountLocked {
            return RecoveryError(outcome: failure, reason: .notRecoverable)
        }
        if challenge.key == .redirect {
            // Whoever asks for a form to be posted names the way back by himself.
            let option = challenge.form == nil ? "--redirect-uri" : "--return-uri"
            tell("A browser has to come back with the answer: let \(option) lead to this machine, or use a terminal.")
        }
        if let untaken = answers.untakenChoice { tell("\(untaken)") }
        return Challenge.NoAnswer(challenge.key)
    }
}
