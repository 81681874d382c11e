import AuthRecovery
import HTTPRecovery

/// Answers: codes, questions, keys, and whatever else a form wants to be filled in.
extension OktaEngineMachine {
    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<OktaSession> {
        unattended = 0
        switch challenge.key {
        case .text where challenge.factor.isSame(as: .identifier):
            identifier = answer.reveal()
            api.account = LockoutLedger.account(for: identifier)
            guard let standing = self.answer else { return try await begin() }
            return try await follow(standing)
        case .password: return try await submit(password: answer)
        case _ where challenge.factor.id?.hasPrefix("entry/") == true:
            return try await submit(entry: answer, to: challenge)
        case .phoneNumber: return try await submit(phoneNumber: answer)
        case .redirect: return try await submit(returned: answer)
        case .push:
            // The answer is given on the phone; without the wish for another push there is nothing to do here.
            throw RecoveryError(outcome: challenge.previousFailure ?? Outcome(.declined), reason: .notRecoverable)
        case .webauthn: return try await submit(webAuthn: answer)
        case .captcha: return try await submit(captcha: answer)
        case _ where challenge.factor.id == Self.consentID: return try await submit(consent: answer, to: challenge)
        case _ where challenge.factor.id?.hasPrefix("question/") == true:
            return try await enroll(answer, toQuestion: challenge.factor.providerName)
        case .emailCode: return try await submit(code: try code(of: answer))
        default: return try await submit(code: answer)
        }
    }

    /// Submits a code, an answer or a new password to the form that stands.
    private mutating func submit(code: Secret) async throws -> SignInStep<OktaSession> {
        guard let form = answer?.forms.first(where: { Self.takesAnswers($0) }) else {
            throw missing("challenge-authenticator")
        }
        var values: [String: JSONValue] = [Self.place(form): .string(code.reveal())]
        if form["credentials.questionKey"].map({ $0.value == nil }) == true,
            let key = answer?.current?.context?["enrolledQuestion"]?["questionKey"]
        {
            values["credentials.questionKey"] = key
        }
        do {
            return try await post(form, values, resend: .spending, isAttempt: true)
        } catch let error as RecoveryError where error.outcome.isOfAnotherWindow {
            try await context?.waitForNextCode()
            throw error
        }
    }

    static func takesAnswers(_ form: OktaForm) -> Bool {
        [
            "challenge-authenticator", "enroll-authenticator", "reset-authenticator", "reenroll-authenticator",
            "reenroll-authenticator-warning",
        ].contains(form.name)
    }

    /// Where a form wants the answer.
    private static func place(_ form: OktaForm) -> String {
        let usual = ["credentials.passcode", "credentials.totp", "credentials.answer", "credentials.signatureData"]
        return usual.first { form[$0] != nil } ?? form.openPaths.first ?? usual[0]
    }

    /// The code in an answer, which may be the link that was sent in its place.
    ///
    /// A link that belongs to another sign-in is not good for this one.
    private func code(of answer: Secret) throws -> Secret {
        let parts = answer.reveal().split(separator: "?", maxSplits: 1)
        guard parts.count == 2, let code = FormFields(parsing: parts[1].utf8)["otp"].first else { return answer }
        guard FormFields(parsing: parts[1].utf8)["state"].first == interaction?.state else {
            var error = failure(.challengeIncorrect, [.askUser])
            (error.outcome.code, error.outcome.parameter) = ("state_mismatch", "state")
            error.outcome.userMessage = "This link belongs to another sign-in."
            throw error
        }
        return code
    }

    // MARK: What is asked

    /// Says what an authenticator wants that is being verified.
    mutating func challenge(_ form: OktaForm, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession>? {
        guard let current = answer.current else {
            return .ask(Challenge(factor: Factor(key: .text, providerName: form.name)))
        }
        guard let key = current.factorKey(current.method) else { throw failure(.factorUnavailable, [.switchFactor]) }
        switch key {
        case .password:
            guard let password else { return .ask(Challenge(factor: Self.passwordFactor)) }
            self.password = nil
            return try await submit(password: password)
        case .webauthn: return try await sign(form, answer, current)
        // A poll stands beside it and waits for the phone.
        case .push: return form["credentials"] == nil ? nil : .ask(question(.totp, current))
        default: return try await ask(question(key, current), answer)
        }
    }

    /// Says what an authenticator wants that is being enrolled.
    mutating func enroll(_ form: OktaForm, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession> {
        guard let current = answer.current, let key = current.factorKey(current.method) else {
            throw failure(.factorUnavailable, [.switchFactor])
        }
        switch key {
        case .password: return newPassword(answer)
        case .webauthn: return try await register(form, current)
        case .securityAnswer:
            let questions = Self.questions(form)
            return questions.isEmpty ? .ask(question(key, current)) : .choose(questions)
        default: return try await ask(question(key, current, setup: current.setup), answer)
        }
    }

    func question(_ key: Factor.Key, _ current: OktaAuthenticator, setup: Secret? = nil) -> Challenge {
        Challenge(
            factor: standing(key, current),
            prompt: key == .securityAnswer ? current.question : current.page.map { _ in Self.duoPrompt },
            setup: setup ?? current.page
        )
    }

    /// What Duo wants, for a person: no terminal can show its page.
    private static let duoPrompt =
        "Duo has to confirm the sign-in on a page of its own. An app that shows that page answers with the signed text "
        + "that it gives (sig_response); without such an app, choose another way."

    // MARK: Security questions

    /// The questions to choose from.
    private static func questions(_ form: OktaForm) -> [Factor] {
        (form["credentials"]?.options ?? []).flatMap { option in
            (option.field("questionKey")?.options ?? []).compactMap { question in
                guard let key = question.value?.string else { return nil }
                return Factor(key: .securityAnswer, providerName: key, destination: question.label, id: "question/new")
            }
        }
    }

    private mutating func enroll(_ answer: Secret, toQuestion key: String) async throws -> SignInStep<OktaSession> {
        guard let form = self.answer?.form("enroll-authenticator"),
            let index = form["credentials"]?.options.firstIndex(where: {
                $0.field("questionKey")?.options.isEmpty == false
            })
        else { throw missing("enroll-authenticator") }
        let values: [String: JSONValue] = [
            "credentials.questionKey": .string(key), "credentials.answer": .string(answer.reveal()),
        ]
        return try await post(form, values, choosing: ["credentials": index], resend: .spending)
    }

    // MARK: WebAuthn

    private mutating func sign(
        _ form: OktaForm,
        _ answer: OktaEngineAnswer,
        _ current: OktaAuthenticator
    ) async throws -> SignInStep<OktaSession> {
        let options = current.context?["challengeData"]
        guard let options,
            var request = WebAuthn.SigningRequest(
                options: options,
                relyingPartyID: api.org.domain,
                origin: api.org.origin.description
            )
        else { throw missing("challengeData") }
        let factor = question(.webauthn, current).factor
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: factor, hint: options["challenge"]?.string))
        }
        if request.allowedCredentials.isEmpty {
            // The one that was chosen, where the server tells.
            request.allowedCredentials = current.credentialID.map { [$0] } ?? answer.credentialIDs
        }
        let assertion = try await ceremony { [request] in try await authenticator.sign(request, on: $0) }
        let values: [String: JSONValue] = [
            "credentials.clientData": .string(Base64.encodeForURL(assertion.clientDataJSON)),
            "credentials.authenticatorData": .string(Base64.encodeForURL(assertion.authenticatorData)),
            "credentials.signatureData": .string(Base64.encodeForURL(assertion.signature)),
        ]
        return try await post(form, values, resend: .spending, isAttempt: true)
    }

    private mutating func register(
        _ form: OktaForm,
        _ current: OktaAuthenticator
    ) async throws -> SignInStep<OktaSession> {
        let options = current.context?["activationData"]
        guard let options,
            var request = WebAuthn.RegistrationRequest(
                options: options,
                relyingPartyID: api.org.domain,
                origin: api.org.origin.description
            )
        else { throw missing("activationData") }
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: question(.webauthn, current).factor, hint: options["challenge"]?.string))
        }
        if request.user.name.isEmpty { request.user.name = identifier }
        let attestation = try await ceremony { [request] in try await authenticator.register(request, on: $0) }
        let values: [String: JSONValue] = [
            "credentials.clientData": .string(Base64.encodeForURL(attestation.clientDataJSON)),
            "credentials.attestation": .string(Base64.encodeForURL(attestation.attestationObject)),
        ]
        return try await post(form, values, resend: .spending, isAttempt: true)
    }

    /// Submits what the responder brings: the word `unsupported`, or the fields of a ceremony as a JSON object.
    private mutating func submit(webAuthn text: Secret) async throws -> SignInStep<OktaSession> {
        guard let members = (try? JSONValue(parsing: text.reveal()))?.members, !members.isEmpty,
            let form = answer?.forms.first(where: Self.takesAnswers)
        else { throw failure(.factorUnavailable, [.switchFactor]) }
        var values: [String: JSONValue] = [:]
        for member in members.prefix(16) { values["credentials.\(member.key)"] = member.value }
        return try await post(form, values, resend: .spending, isAttempt: true)
    }

    /// Runs a ceremony; what goes wrong there makes the factor one that cannot be used now.
    private func ceremony<Credential>(_ body: (TimeSource) async throws -> Credential) async throws -> Credential {
        do {
            return try await body(api.client.runtime.time)
        } catch let error as WebAuthn.Failure {
            var refusal = failure(.factorUnavailable, [.switchFactor])
            refusal.cause = error
            throw refusal
        }
    }
}
