import AuthRecovery
import HTTPRecovery

/// A sign-in by Direct Authentication as a machine: the client chooses the factors, and each request carries its proof.
///
/// There is no state to be read: after an answer that was lost, what it carried is asked for anew. A password that led
/// on is forgotten: the proof of the sign-in stands for it. A forgotten password is recovered by another factor, whose
/// token sets the new one.
struct OktaDirectMachine: SignInMachine {
    var api: OktaAPI
    private(set) var context: SignInContext?
    var app: OktaApp
    var identifier: String
    /// The password until it was sent.
    var password: Secret?
    /// The proof that the first factor was right.
    var mfaToken: Secret?
    /// The sorts of second factors that the server takes; empty for all.
    var challengeTypes: [String] = []
    /// The transaction that is answered on another device, or by what was sent to one.
    var transaction: OktaOutOfBand?
    /// The factor whose WebAuthn challenge stands, and its options.
    var keyOptions: JSONValue?
    var polling: OktaDirectPolling?
    /// Whether a new password is wanted in place of a forgotten one.
    var recovers = false
    /// The factor by which the person is to be reached in a recovery, by Okta's name; nil lets them choose.
    var reach: String?
    /// What sets the new password.
    var recoveryToken: OktaRecoveryToken?

    init(api: OktaAPI, app: OktaApp, goal: OktaSignInMachine.Goal, identifier: String, password: Secret?) {
        self.api = api
        self.app = app
        self.identifier = identifier
        self.password = password
        if case .recover(let type) = goal {
            recovers = true
            reach = type.map { $0 == .call ? "voice" : $0 == .totp ? "otp" : $0.rawValue }
        }
    }

    mutating func enter(_ context: SignInContext) {
        self.context = context
        api = api.within(context.operation)
        api.account = LockoutLedger.account(for: identifier)
    }

    var openingFactor: Factor? { password.map { _ in OktaSignInMachine.passwordFactor } }

    mutating func begin() async throws -> SignInStep<OktaSession> {
        (mfaToken, challengeTypes, transaction, keyOptions, polling) = (nil, [], nil, nil, nil)
        recoveryToken = nil
        guard !identifier.isEmpty else { return .ask(.identifier) }
        if recovers { return .choose(factors) }
        guard let password else { return .ask(Challenge(factor: OktaSignInMachine.passwordFactor)) }
        return try await submit(password: password)
    }

    /// There is nothing to read: what is wanted is asked for anew, with the same proof.
    ///
    /// A code that was sent is still good, and no other is sent for it.
    mutating func resync() async throws -> SignInStep<OktaSession> {
        polling = nil
        if recoveryToken != nil { return newPassword }
        if let transaction, !transaction.isAnsweredElsewhere { return .ask(Challenge(factor: transaction.factor)) }
        transaction = nil
        return mfaToken == nil ? try await begin() : .choose(factors)
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        if factor.isSame(as: .identifier) { return .ask(.identifier) }
        if factor.isSame(as: Self.recovery) {
            recovers = true
            return try await begin()
        }
        switch factor.key {
        case .push, .phoneCode: return try await challenge(factor)
        case .webauthn: return try await challengeKey(factor)
        default: return .ask(Challenge(factor: factor))
        }
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<OktaSession> {
        switch challenge.key {
        case .text where challenge.factor.isSame(as: .identifier):
            identifier = answer.reveal()
            api.account = LockoutLedger.account(for: identifier)
            return try await begin()
        case .password: return try await submit(password: answer)
        case .newPassword: return try await submit(newPassword: answer)
        case .totp: return try await submit(otp: answer)
        case .phoneCode: return try await submit(bindingCode: answer)
        case .webauthn: return try await submit(webAuthn: answer)
        default:
            throw RecoveryError(outcome: challenge.previousFailure ?? Outcome(.declined), reason: .notRecoverable)
        }
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<OktaSession> {
        try await choose(factor)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<OktaSession> {
        if factor.isSame(as: .identifier), refusal == nil { return .choose([factor]) }
        // Whoever cannot give the password may have forgotten it.
        let isPassword = refusal == nil && factor.key == .password
        return .choose(factors + (isPassword ? [Self.recovery] : []))
    }

    // MARK: Factors

    /// What can be tried now; which of it the person has, the server tells when it is tried.
    var factors: [Factor] {
        func takes(_ end: String) -> Bool {
            [challengeTypes, app.grantTypesSupported].allSatisfy { types in
                types.isEmpty || types.contains { $0.hasSuffix(end) }
            }
        }
        let first = mfaToken == nil && !recovers ? [OktaSignInMachine.passwordFactor] : []
        let otp = takes("otp") ? [Factor(key: .totp, providerName: "otp")] : []
        let oob =
            takes("oob")
            ? [
                Factor(key: .push, providerName: "push"), Factor(key: .phoneCode, providerName: "sms"),
                Factor(key: .phoneCode, providerName: "voice"),
            ] : []
        let key = takes("webauthn") ? [Factor(key: .webauthn, providerName: "webauthn")] : []
        let all = first + otp + oob + key
        guard recovers, mfaToken == nil, let reach else { return all }
        let named = all.filter { $0.providerName == reach }
        return named.isEmpty ? all : named
    }

    // MARK: Requests

    /// Submits an answer; if nobody knows what became of it, it is asked for anew.
    mutating func token(_ grant: String, _ fields: FormFields) async throws -> SignInStep<OktaSession> {
        do {
            return try await ask(grant, fields)
        } catch var error as RecoveryError where error.isInDoubt {
            error.outcome.remedies = [.resync, .askUser]
            throw error
        }
    }

    /// Asks the token endpoint; every request of a sign-in has the same scope, the same intent and the same assurance.
    mutating func ask(
        _ grant: String,
        _ fields: FormFields,
        isPoll: Bool = false
    ) async throws -> SignInStep<OktaSession> {
        let oauth = try api.oauth(for: app)
        var form: FormFields = ["grant_type": grant]
        form.add("mfa_token", secret: mfaToken)
        form.add(fields)
        form.add("scope", recovers ? Self.recoveryScope : app.scope)
        form.add("intent", intent)
        form.add("acr_values", app.assurance.acrValues)
        form.add("grant_types_supported", app.grantTypesSupported.joined(separator: " ").nonEmpty)
        let answer = try await oauth.post(
            form,
            to: .token,
            presents: mfaToken == nil && transaction == nil ? nil : .state,
            // A poll spends nothing until it succeeds; an answer counts.
            resend: .spending,
            // What recovers a password is held back by no lockout.
            account: isPoll || recovers ? nil : api.account
        )
        if let proof = answer.members["mfa_token"]?.string?.nonEmpty {
            mfaToken = Secret(proof)
            let types = answer.members["supported_challenge_types"]?.string ?? ""
            challengeTypes = types.split(separator: " ").prefix(16).map(String.init)
            return .choose(factors)
        }
        let clock = ServerClock(answer.response.headerFields, receivedAt: api.client.runtime.time.wallTime)
        guard let tokens = OAuthClient.TokenAnswer(answer.members, date: clock.now) else {
            throw RecoveryError(.unreadable, in: answer.response)
        }
        if recovers {
            recoveryToken = OktaRecoveryToken(tokens)
            return newPassword
        }
        return .finished(try await api.keep(tokens, nonce: nil, userID: nil, login: identifier))
    }

    mutating func submit(password answer: Secret) async throws -> SignInStep<OktaSession> {
        password = nil
        var form: FormFields = ["username": identifier]
        form.add("password", secret: answer)
        return try await token("password", form)
    }

    private mutating func submit(otp: Secret) async throws -> SignInStep<OktaSession> {
        var form = FormFields()
        if mfaToken == nil { form.add("login_hint", identifier) }
        form.add("otp", secret: otp)
        return try await token(grant("otp"), form)
    }

    private mutating func submit(bindingCode: Secret) async throws -> SignInStep<OktaSession> {
        guard let transaction else { throw unheard }
        var form = FormFields()
        form.add("oob_code", secret: transaction.code)
        form.add("binding_code", secret: bindingCode)
        return try await token(grant("oob"), form)
    }

    /// A code came, and the answer with what it belongs to did not: it cannot be presented, and another is for the person
    /// to wish for.
    private var unheard: RecoveryError {
        var error = failure(.challengeIncorrect, [.askUser, .newChallenge])
        error.outcome.userMessage = "The code that was sent cannot be used: have another one sent."
        return error
    }

    /// The grant of a sort, as the first factor or as the second: two families of names.
    func grant(_ sort: String) -> String {
        if mfaToken == nil { return "urn:okta:params:oauth:grant-type:\(sort)" }
        return sort == "webauthn"
            ? "urn:okta:params:oauth:grant-type:mfa-webauthn" : "http://auth0.com/oauth/grant-type/mfa-\(sort)"
    }

    /// Has a push, a text message or a call made; it is made once, and again only if somebody wants it.
    private mutating func challenge(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        let answer: JSONValue
        do {
            answer = try await challenge("oob", channel: factor.providerName, resend: .spending)
        } catch let error as RecoveryError where error.isInDoubt {
            // It may have gone out; another one is for the person to wish for. What was sent before is of no use any more.
            transaction = nil
            var doubt = error.outcome
            doubt.remedies = [.newChallenge, .switchFactor]
            return .ask(Challenge(factor: factor, previousFailure: doubt))
        }
        guard var transaction = OktaOutOfBand(answer) else { throw failure(.unreadable) }
        transaction.factor = factor
        transaction.endsAt = api.client.runtime.time.wallTime.advanced(by: transaction.lifetime)
        self.transaction = transaction
        guard transaction.isAnsweredElsewhere else { return .ask(Challenge(factor: factor)) }
        polling = OktaDirectPolling(transaction)
        return try await askAfter(.begun)
    }

    /// Begins a challenge of a sort.
    func challenge(
        _ sort: String,
        channel: String?,
        resend: RequestOptions.ResendPermission
    ) async throws -> JSONValue {
        let oauth = try api.oauth(for: app)
        var form = FormFields()
        if let mfaToken {
            form.add("mfa_token", secret: mfaToken)
            form.add("challenge_types_supported", grant(sort))
        } else {
            form.add("login_hint", identifier)
            form.add("challenge_hint", grant(sort))
        }
        form.add("intent", intent)
        form.add("acr_values", app.assurance.acrValues)
        form.add("channel_hint", channel)
        let endpoint: OAuthServer.Endpoint = mfaToken == nil ? .primaryAuthenticate : .challenge
        return try await oauth.post(form, to: endpoint, presents: mfaToken == nil ? nil : .state, resend: resend)
            .members
    }

    func failure(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = []) -> RecoveryError {
        RecoveryError(outcome: Outcome(kind, processed: .yes, remedies: remedies), reason: .notRecoverable)
    }

    // MARK: Waiting

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<OktaSession> {
        try await askAfter(bound.map { .notPaused($0) } ?? .paused)
    }

    /// Asks whether somebody has answered, as the plan says, up to the next pause.
    private mutating func askAfter(_ event: RecoveryOperation.Event<Polled>) async throws -> SignInStep<OktaSession> {
        guard var plan = polling, let context else { return try await resync() }
        polling = nil
        let base = self
        let end = try await context.operation.advance(&plan, after: event) { code, operation in
            var machine = base
            machine.api = machine.api.within(operation)
            var form = FormFields()
            form.add("oob_code", secret: code)
            let step = try await machine.ask(machine.grant("oob"), form, isPoll: true)
            return Polled(machine: machine, step: step)
        }
        switch end {
        case .finished(let polled):
            (mfaToken, challengeTypes) = (polled.machine.mfaToken, polled.machine.challengeTypes)
            transaction = nil
            return polled.step
        case .pausing(let duration, let reason):
            polling = plan
            return .pending(plan.challenge, SignInContext.Pause(duration, reason: reason))
        }
    }

    /// What a poll has led to.
    struct Polled: Sendable {
        let machine: OktaDirectMachine
        let step: SignInStep<OktaSession>
    }
}

extension OAuthServer.Endpoint {
    /// Begins a challenge of Direct Authentication as the second factor, and as the first.
    static let challenge = OAuthServer.Endpoint(rawValue: "challenge_endpoint")
    static let primaryAuthenticate = OAuthServer.Endpoint(rawValue: "primary_authenticate_endpoint")
}

extension RecoveryError {
    /// Whether nobody knows whether the server has acted.
    var isInDoubt: Bool {
        [.transport, .timedOut, .unavailable].contains(kind) && outcome.processed != .no
    }
}
