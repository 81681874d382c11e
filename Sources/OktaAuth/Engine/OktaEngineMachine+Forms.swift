import AuthRecovery
import HTTPRecovery

/// What an answer wants: its forms in the server's order, then what is there beside them.
extension OktaEngineMachine {
    mutating func follow(_ step: OktaEngineStep) async throws -> SignInStep<OktaSession> {
        try await follow(step.answer, step.outcome)
    }

    mutating func follow(_ next: OktaEngineAnswer, _ outcome: Outcome? = nil) async throws -> SignInStep<OktaSession> {
        polling = nil
        stand(at: next)
        if let code = next.interactionCode { return try await finish(code, next) }
        if next.forms.isEmpty { return try await end(outcome) }
        if recovers, let recover = next.current?.action("recover") {
            recovers = false
            return try await post(recover, resend: .replayable)
        }
        for form in next.forms {
            if let step = try await want(form, next) { return step }
        }
        return try await wantElse(next)
    }

    /// What a form wants; nil for one that is there beside others.
    private mutating func want(_ form: OktaForm, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession>? {
        if form.isLink { return nil }
        // What is typed into these is not kept: the proof comes first.
        if Self.takesAnswers(form), let question = unsolved(form) { return question }
        switch form.name {
        case "identify", "identify-recovery": return try await identify(form)
        case "challenge-authenticator": return try await challenge(form, answer)
        case "challenge-poll", "enroll-poll", "poll", "device-challenge-poll":
            if let device = answer.deviceChallenge { return try await ask(device, answer, form) }
            return form.name == "device-challenge-poll" ? nil : try await awaitPush(answer, form)
        case "enroll-authenticator": return try await enroll(form, answer)
        case "authenticator-verification-data", "authenticator-enrollment-data":
            return try await give(data: form, answer)
        case "select-enrollment-channel": return try await select(channel: form)
        case "reset-authenticator", "reenroll-authenticator":
            return newPassword(answer, because: form.name == "reset-authenticator" ? nil : expiry)
        case "reenroll-authenticator-warning":
            if !api.configuration.warnsOfExpiry, let skip = answer.form("skip") {
                return try await post(skip, resend: .spending)
            }
            return newPassword(answer, because: warning(answer))
        case "reenroll-custom-password-expiry": throw failure(.passwordExpired, [.visitProvider])
        case "enroll-profile-update", "profile-update":
            // What nobody has to say is left out.
            if !api.configuration.enrollsOptionalFactors, let skip = answer.form("skip") {
                return try await post(skip, resend: .spending)
            }
            return try await fill(form)
        case "keep-me-signed-in":
            let keeps = api.configuration.remembersDevice ?? false
            return try await post(form, ["keepMeSignedIn": .bool(keeps)], resend: .spending)
        case _ where Self.consents.contains(form.name): return consent(form, answer)
        case _ where form.name.hasPrefix("select-authenticator-"): return try await select(form, answer)
        case _ where Self.besides.contains(form.name): return nil
        default:
            // A form that nobody knows is asked for in the server's words.
            return form.openPaths.isEmpty ? nil : try await fill(form)
        }
    }

    /// The forms that lead elsewhere than on.
    private static let besides: Set<String> = [
        "skip", "cancel", "select-identify", "select-enroll-profile", "unlock-account", "redirect-idp", "piv-idp",
        "device-apple-sso-extension", "launch-authenticator", "launch-webauthn-autofill-ui-challenge",
        "challenge-webauthn-autofillui-authenticator",
        "success-redirect", "failure-redirect", "resend", "send", "recover", "device-challenge-poll",
        "cancel-polling", "authenticatorChallenge-cancel",
    ]

    /// What is left of an answer whose forms are all there beside others.
    private mutating func wantElse(_ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession> {
        let ways = links(answer) + launches(answer)
        if !ways.isEmpty { return .choose(ways) }
        if let skip = answer.form("skip") { return try await post(skip, resend: .spending) }
        let isOfDevice = [Self.launch, "device-challenge-poll", "device-apple-sso-extension"].contains {
            answer.form($0) != nil
        }
        if isOfDevice { throw unreachable(answer.deviceChallenge, answer) }
        var error = failure(.unknown, [.restartFlow])
        error.outcome.code = answer.forms.first?.name
        error.outcome.userMessage = answer.text
        throw error
    }

    /// The end of a flow without a code: an unlock or a recovery that leads back to the beginning, or nothing.
    private mutating func end(_ outcome: Outcome?) async throws -> SignInStep<OktaSession> {
        guard let outcome, outcome.kind == .ok, outcome.remedies.first == .restartFlow else {
            throw failure(.unreadable)
        }
        let ledger = LockoutLedger(runtime: api.client.runtime, origin: api.org.origin)
        await ledger.forget(LockoutLedger.account(for: identifier))
        await context?.notice(outcome)
        goal = .signIn
        return try await begin()
    }

    // MARK: Name and password

    /// Whether the form takes the password along with the name.
    private static func takesPassword(_ form: OktaForm) -> Bool { form["credentials.passcode"] != nil }

    private mutating func identify(_ form: OktaForm) async throws -> SignInStep<OktaSession> {
        guard !identifier.isEmpty else { return .ask(.identifier) }
        var values: [String: JSONValue] = ["identifier": .string(identifier)]
        if form["rememberMe"] != nil, let remembers = api.configuration.remembersDevice {
            values["rememberMe"] = .bool(remembers)
        }
        // The name alone leads to where a forgotten password can be recovered.
        guard Self.takesPassword(form), form["credentials"]?.isRequired == true || !recovers else {
            return try await post(form, values, resend: .replayable)
        }
        guard let password else { return .ask(Challenge(factor: Self.passwordFactor)) }
        if let question = unsolved(form) { return question }
        self.password = nil
        values["credentials.passcode"] = .string(password.reveal())
        return try await post(form, values, resend: .spending, isAttempt: true)
    }

    /// Submits a password that was typed.
    mutating func submit(password answer: Secret) async throws -> SignInStep<OktaSession> {
        guard let standing = self.answer else { throw missing("identify") }
        if let form = standing.form("challenge-authenticator") {
            if let question = unsolved(form) {
                password = answer
                return question
            }
            let values: [String: JSONValue] = ["credentials.passcode": .string(answer.reveal())]
            return try await post(form, values, resend: .spending, isAttempt: true)
        }
        guard let form = standing.form("identify") else { throw missing("identify") }
        password = answer
        return try await identify(form)
    }

    // MARK: New passwords

    func newPassword(_ answer: OktaEngineAnswer, because occasion: Outcome? = nil) -> SignInStep<OktaSession> {
        let factor = Factor(key: .newPassword, providerName: answer.forms.first?.name ?? "password")
        let rules = answer.current?.passwordRules
        return .ask(Challenge(factor: factor, occasion: occasion ?? Outcome(.challengeRequired), hint: rules))
    }

    private var expiry: Outcome {
        var expiry = failure(.passwordExpired, [.changePassword]).outcome
        expiry.userMessage = "The password has expired and has to be changed."
        return expiry
    }

    /// When the password, which is still good, expires.
    private func warning(_ answer: OktaEngineAnswer) -> Outcome {
        var warning = failure(.continue, [.changePassword]).outcome
        let days = answer.current?["settings"]?["daysToExpiry"]?.number?.saturatedInt
        warning.userMessage = OktaPasswordPolicy.warning(inDays: days.map { Int(clamping: $0) })
        return warning
    }

    // MARK: The end

    private mutating func finish(_ code: Secret, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession> {
        guard let interaction else { throw failure(.flowExpired, [.restartFlow]) }
        exchanges += 1
        do {
            let session = try await api.exchange(interactionCode: code, of: interaction, for: app, answer)
            self.answer = nil
            self.interaction = nil
            return .finished(session)
        } catch let error as RecoveryError where exchanges == 1 && error.isWithoutAnswer {
            // The code is used up, perhaps, and is not sent twice: there is nothing but another flow, and the person.
            return try await begin()
        }
    }

    /// Ends with the code that a browser has brought back.
    mutating func finish(returned code: Secret) async throws -> SignInStep<OktaSession> {
        guard let answer else { throw missing("redirect-idp") }
        return try await finish(code, answer)
    }
}

extension RecoveryError {
    /// Whether nobody knows what became of the call.
    fileprivate var isWithoutAnswer: Bool {
        [.transport, .timedOut, .unavailable].contains(kind) && outcome.processed != .no
            && ![.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit].contains(reason)
    }
}
