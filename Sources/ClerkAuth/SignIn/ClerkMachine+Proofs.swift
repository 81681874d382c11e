import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Proofs against abuse: what is refused for want of one waits until somebody has given it.
extension ClerkMachine {
    /// The question that a refusal leads to; nil if it is about something else.
    ///
    /// - Throws: The refusal of the proof that was given, so that it is asked for again.
    mutating func question(about refusal: RecoveryError, of move: ClerkMove) async throws -> SignInStep<Session>? {
        guard let wanted = AbuseQuestion(refusal, of: move, at: stage.placeOfProofs) else { return nil }
        return try await ask(wanted)
    }

    /// Asks for what a flow waits for.
    mutating func ask(
        for check: JSONValue,
        orElse refusal: RecoveryError
    ) async throws -> SignInStep<Session> {
        guard case .flow(let path) = stage.placeOfProofs else { throw refusal }
        return try await ask(AbuseQuestion(refusal, check: check, of: path))
    }

    private mutating func ask(_ wanted: AbuseQuestion) async throws -> SignInStep<Session> {
        var wanted = wanted
        // What was given and is wanted again was not enough.
        if wanted.check == nil { evidence.captcha = nil } else { evidence.proof = nil }
        if let proved, proved.isSame(as: wanted) {
            asked = proved
            throw wanted.ofWrongProof
        }
        if wanted.check == nil { wanted.captcha = try await captcha() }
        asked = wanted
        var challenge = wanted.challenge
        if let proved, proved.path == wanted.path, (proved.check == nil) == (wanted.check == nil), wanted.isRefused {
            challenge.previousFailure = wanted.refusal.outcome
            challenge.occasion = wanted.refusal.outcome
        }
        return .ask(challenge)
    }

    /// How the instance shows captchas; nil if it cannot be asked now.
    private func captcha() async throws -> ClerkEnvironment.Captcha? {
        do {
            return try await stage.api.readEnvironment().captcha
        } catch is RecoveryError {
            try Task.checkCancellation()
            return nil
        }
    }

    /// Presents what somebody has given, and goes on with what has waited for it.
    mutating func prove(
        _ answer: Secret,
        to question: AbuseQuestion
    ) async throws -> SignInStep<Session> {
        // Nobody can solve it here.
        if answer.reveal().isEmpty { throw question.refusal }
        if question.isExpired(at: stage.api.now) {
            // What begins a flow is told of a new one when it is sent again.
            guard question.path == nil, let move = question.deferred else {
                throw RecoveryError(outcome: Outcome(.flowExpired, remedies: [.restartFlow]), reason: .notRecoverable)
            }
            return try await make(move)
        }
        let given = question.evidence(in: answer)
        proved = question
        defer { proved = nil }
        guard let path = question.path else {
            evidence.captcha = given.captcha ?? evidence.captcha
            evidence.proof = given.proof ?? evidence.proof
            return try await goOn(behind: question, orElse: question.refusal)
        }
        let call = ClerkAPI.Call(
            method: question.check == nil ? .post : .patch,
            path: path,
            body: .form(given.form),
            resend: .spending
        )
        let said: ClerkAnswer
        do {
            said = try await ClerkFactorCalls(api: stage.api).perform(call)
        } catch let error as RecoveryError {
            // It has arrived, as far as anybody knows: what has waited for it shows that.
            if error.reason == .processedUnknown || error.outcome.code == "protect_check_already_resolved" {
                return try await goOn(behind: question, orElse: error)
            }
            guard error.outcome.isAboutRobots else { throw error }
            var again = question
            again.refusal = error
            again.check = question.check == nil ? nil : error.outcome.details?["protect_check"] ?? question.check
            return try await ask(again)
        }
        return try await goOn(behind: question, said, orElse: question.refusal)
    }

    /// Does what has waited for a proof.
    ///
    /// - Parameters:
    ///   - question: What has asked for the proof.
    ///   - said: What the server has said to it.
    ///   - doubt: Why that is not known.
    private mutating func goOn(
        behind question: AbuseQuestion,
        _ said: ClerkAnswer? = nil,
        orElse doubt: RecoveryError
    ) async throws -> SignInStep<Session> {
        guard let move = question.deferred else {
            return try await make(said.map { .follow($0) } ?? .resync(after: doubt))
        }
        var waiting = stage.openingFactor.map { Challenge(factor: $0) }
        if case .choose(let factor) = move { retried = factor }
        if case .submit(_, let challenge) = move {
            // What an authenticator shows is of no use any more.
            if challenge.key == .totp { return .ask(challenge) }
            waiting = challenge
        }
        retried = waiting?.factor ?? retried
        do {
            return try await make(move)
        } catch let refusal as RecoveryError {
            guard asked == nil, var again = waiting, refusal.outcome.asksAgain else { throw refusal }
            again.previousFailure = refusal.outcome
            again.occasion = refusal.outcome
            return .ask(again)
        }
    }
}

extension Outcome {
    /// Whether the server wants to see a person before it looks at anything.
    var isAboutRobots: Bool { kind == .challengeRequired || code == "captcha_invalid" }

    /// Whether somebody can answer the same question better.
    fileprivate var asksAgain: Bool {
        switch kind {
        case .invalidCredentials, .challengeIncorrect, .passwordRejected, .invalidRequest:
            remedies.contains(.askUser) && !isAboutName
        default: false
        }
    }

    /// Whether nobody has an account by the name; where names are kept secret, what is refused may as well be the password.
    var isAboutName: Bool {
        kind == .invalidCredentials ? code == "form_identifier_not_found" : parameter == Factor.identifier.providerName
    }
}
