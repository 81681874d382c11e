import AuthRecovery
import HTTPRecovery

/// A database login as a machine: the password, then a second factor if the tenant wants one.
struct Auth0SignInMachine: SignInMachine {
    private(set) var api: Auth0API
    let tokens: any TokenStore
    var identifier: String
    /// What ``begin()`` presents; forgotten once it was refused.
    var password: Secret?
    /// What the second step presents; nil before it.
    var token: MFAToken?
    /// What the person has enrolled and the tenant takes.
    var authenticators: [Auth0Authenticator] = []
    /// The code or push that was sent, and of which factor.
    var challenge: Auth0Challenge?
    var factor: Factor?
    /// How long to wait before the next question about a push.
    var interval: Duration

    init(api: Auth0API, tokens: any TokenStore, identifier: String, password: Secret?) {
        self.api = api
        self.tokens = tokens
        self.identifier = identifier
        self.password = password
        interval = api.configuration.pollInterval
    }

    private static let passwordFactor = Factor(key: .password, providerName: "password")

    var openingFactor: Factor? { password.map { _ in Self.passwordFactor } }

    mutating func enter(_ context: SignInContext) {
        api.client = api.client.within(context.operation)
    }

    // MARK: The password

    mutating func begin() async throws -> SignInStep<Auth0Session> {
        (token, challenge, factor, authenticators) = (nil, nil, nil, [])
        guard !identifier.isEmpty else { return .ask(.identifier) }
        guard let given = password else { return .ask(Challenge(factor: Self.passwordFactor)) }
        // Refused once is refused for good, and of what was lost or broken off nobody knows.
        password = nil
        let response = try await api.password(identifier, given)
        // What was accepted may be presented again, if the second step takes too long.
        password = given
        return try await goOn(after: response)
    }

    private mutating func goOn(after response: RecoveredResponse) async throws -> SignInStep<Auth0Session> {
        let json = try await response.json()
        guard response.outcome.kind == .continue else { return .finished(try await keep(json, in: response)) }
        guard let value = json["mfa_token"]?.string, !value.isEmpty else {
            throw RecoveryError(.userActionRequired, [.visitProvider], in: response)
        }
        let now = api.client.runtime.time.wallTime
        let token = MFAToken(value: Secret(value), endsAt: now.advanced(by: MFAToken.lifetime))
        self.token = token
        let wanted = json["mfa_requirements"]
        let types = wanted?["challenge"]?.array.map { $0.prefix(16).compactMap { $0["type"]?.string } }
        authenticators = try await api.authenticators(token).filter { authenticator in
            types.map { Self.requirements(authenticator.factor.key).contains(where: $0.contains) } ?? true
        }
        // Nothing is enrolled that could be asked for: that is done in the browser.
        guard !authenticators.isEmpty else {
            throw RecoveryError(.userActionRequired, [.visitProvider, .askUser], in: response)
        }
        // What goes wrong with a factor is not the password's fault: it is chosen in a move of its own.
        return .choose(authenticators.map(\.factor))
    }

    /// The words by which the tenant may want a factor.
    private static func requirements(_ key: Factor.Key) -> [String] {
        switch key {
        case .totp: ["otp"]
        case .phoneCode: ["phone", "sms", "voice", "oob"]
        case .emailCode: ["email", "oob"]
        case .push: ["push-notification", "oob"]
        default: ["recovery-code"]
        }
    }

    // MARK: The second factor

    mutating func choose(_ factor: Factor) async throws -> SignInStep<Auth0Session> {
        if factor.isSame(as: .identifier) { return .ask(.identifier) }
        guard let token, let id = factor.id else { return .ask(Challenge(factor: factor)) }
        self.factor = factor
        challenge = nil
        if factor.key == .totp || factor.key == .backupCode { return .ask(Challenge(factor: factor)) }
        let sent = try await api.challenge(id, token)
        challenge = sent
        interval = api.configuration.pollInterval
        return sent.wantsCode ? .ask(Challenge(factor: factor)) : pending(factor)
    }

    mutating func submit(_ answer: Secret, to question: Challenge) async throws -> SignInStep<Auth0Session> {
        if question.factor.isSame(as: .identifier) {
            identifier = answer.reveal()
            return try await begin()
        }
        guard question.key != .password else {
            password = answer
            return try await begin()
        }
        guard let token else { throw RecoveryError(.stateConflict, [.restartFlow], in: nil) }
        let text = JSONValue.string(answer.reveal())
        let response: RecoveredResponse
        switch question.key {
        case .totp: response = try await api.factor("mfa-otp", token, [JSONValue.Member("otp", text)])
        case .backupCode:
            response = try await api.factor("mfa-recovery-code", token, [JSONValue.Member("recovery_code", text)])
        default:
            guard let challenge else { throw RecoveryError(.challengeExpired, [.newChallenge], in: nil) }
            response = try await api.factor(
                "mfa-oob",
                token,
                [
                    JSONValue.Member("oob_code", .string(challenge.code.reveal())),
                    JSONValue.Member("binding_code", text),
                ]
            )
        }
        return .finished(try await keep(response.json(), in: response))
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<Auth0Session> {
        var patient = self
        patient.api.client = api.client.waiting(atMost: limit)
        let step = try await patient.choose(factor)
        patient.api = api
        self = patient
        return step
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<Auth0Session> {
        if token != nil { return .choose(authenticators.map(\.factor)) }
        if let refusal { throw refusal }
        return .choose([factor])
    }

    // MARK: Pushes

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<Auth0Session> {
        if let bound { throw bound }
        guard let token, let challenge, let factor else { throw RecoveryError(.stateConflict, [.restartFlow], in: nil) }
        let response = try await api.factor(
            "mfa-oob",
            token,
            [JSONValue.Member("oob_code", .string(challenge.code.reveal()))],
            isPoll: true
        )
        guard response.outcome.kind == .continue else {
            return .finished(try await keep(response.json(), in: response))
        }
        if response.outcome.code == "slow_down" { interval += .seconds(5) }
        return pending(factor)
    }

    private func pending(_ factor: Factor) -> SignInStep<Auth0Session> {
        .pending(Challenge(factor: factor), SignInContext.Pause(interval))
    }

    /// Begins again, since nobody can read where a sign-in stands.
    ///
    /// What was accepted before is presented again then; what was refused, lost or broken off is asked for.
    mutating func resync() async throws -> SignInStep<Auth0Session> { try await begin() }

    // MARK: The end

    /// Stores the tokens before anyone uses them; what belongs to somebody else goes.
    private func keep(_ json: JSONValue, in response: RecoveredResponse) async throws -> Auth0Session {
        let now = api.client.runtime.time.wallTime
        guard let answer = OAuthClient.TokenAnswer(json, date: now) else {
            throw RecoveryError(.unreadable, in: response)
        }
        let recoveryCode = json["recovery_code"]?.string.map { Secret($0) }
        do {
            try await tokens.keep { stored in
                var fresh = Credentials(others: stored.others.filter { $0.key != Auth0.mark })
                // Tells this sign-in from the next, however often its tokens are renewed.
                fresh.others.append(JSONValue.Member(Auth0.mark, .string(now.rfc3339)))
                stored = answer.merged(into: fresh)
            }
        } catch {
            // It is told nowhere else, and the old one is used up.
            throw recoveryCode.map { Auth0UnkeptRecoveryCode($0, cause: error) } ?? error
        }
        return Auth0Session(answer, recoveryCode: recoveryCode)
    }
}
