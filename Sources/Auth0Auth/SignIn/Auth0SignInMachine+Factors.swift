import AuthRecovery
import HTTPRecovery

/// The second factor: one that is enrolled, or one that is set up now.
extension Auth0SignInMachine {
    /// Offers what the person has enrolled, or what they can set up if that is nothing.
    mutating func secondFactor(
        _ wanted: JSONValue?,
        _ token: MFAToken,
        in response: RecoveredResponse
    ) async throws -> SignInStep<Auth0Session> {
        func types(_ name: String) -> [String]? {
            wanted?[name]?.array?.prefix(16).compactMap { $0["type"]?.string }
        }
        // One of a sort that nobody knows here is enrolled all the same.
        let enrolled = try await api.authenticators(token)
        let challenges = types("challenge")
        authenticators = enrolled.compactMap { Auth0Authenticator($0) }.filter { authenticator in
            challenges.map { Self.requirements(authenticator.factor.key).contains(where: $0.contains) } ?? true
        }
        // What goes wrong with a factor is not the first one's fault: it is chosen in a move of its own.
        if !authenticators.isEmpty { return .choose(authenticators.map(\.factor)) }
        enrollable = enrolled.isEmpty ? Self.enrollable(types("enroll")) : []
        // What the tenant takes is none of what they have: that is done in the browser.
        guard !enrollable.isEmpty else {
            throw RecoveryError(.userActionRequired, [.visitProvider, .askUser], in: response)
        }
        return .choose(enrollable)
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

    mutating func use(_ factor: Factor, _ token: MFAToken) async throws -> SignInStep<Auth0Session> {
        if Self.isNew(factor) { return try await enroll(factor, token) }
        guard let id = factor.id else { return .ask(Challenge(factor: factor)) }
        self.factor = factor
        challenge = nil
        if factor.key == .totp || factor.key == .backupCode { return .ask(Challenge(factor: factor)) }
        challenge = try await api.challenge(id, token)
        return asked(factor)
    }

    /// What is wanted after something was sent or shown.
    mutating func asked(_ factor: Factor) -> SignInStep<Auth0Session> {
        interval = api.configuration.pollInterval
        if factor.key == .totp || challenge?.wantsCode == true { return .ask(Challenge(factor: factor, setup: setup)) }
        return pending(factor)
    }

    mutating func submit(
        _ answer: Secret,
        to question: Challenge,
        _ token: MFAToken
    ) async throws -> SignInStep<Auth0Session> {
        let text = JSONValue.string(answer.reveal())
        switch question.key {
        case .phoneNumber:
            phone = answer
            return try await enroll(Self.newPhone(question.factor.providerName), token)
        // They have written the recovery code down.
        case .text: return factor.map { asked($0) } ?? .choose(enrollable)
        case .totp: return .finished(try await keep(api.factor("mfa-otp", token, [JSONValue.Member("otp", text)])))
        case .backupCode:
            let members = [JSONValue.Member("recovery_code", text)]
            return .finished(try await keep(api.factor("mfa-recovery-code", token, members)))
        default:
            guard let challenge else { throw RecoveryError(.challengeExpired, [.newChallenge], in: nil) }
            let members = [
                JSONValue.Member("oob_code", .string(challenge.code.reveal())), JSONValue.Member("binding_code", text),
            ]
            return .finished(try await keep(api.factor("mfa-oob", token, members)))
        }
    }

    // MARK: Pushes

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<Auth0Session> {
        if let bound { throw bound }
        guard let token, let challenge, let factor else { throw RecoveryError(.stateConflict, [.restartFlow], in: nil) }
        let response: RecoveredResponse
        do {
            let members = [JSONValue.Member("oob_code", .string(challenge.code.reveal()))]
            response = try await api.factor("mfa-oob", token, members, isPoll: true)
        } catch var error as RecoveryError where error.kind == .flowExpired {
            // Nobody has answered in time: another push is for the person to wish for, and the password is behind it.
            (error.outcome.kind, error.outcome.remedies) = (.challengeExpired, [.newChallenge, .restartFlow])
            throw error
        }
        guard response.outcome.kind == .continue else { return .finished(try await keep(response)) }
        if response.outcome.code == "slow_down" { interval += .seconds(5) }
        return pending(factor)
    }

    private func pending(_ factor: Factor) -> SignInStep<Auth0Session> {
        .pending(Challenge(factor: factor, setup: setup), SignInContext.Pause(interval))
    }

    // MARK: Setting a factor up

    /// What a new factor is called, so that it is told from one that is enrolled.
    private static let new = "new"
    /// A phone, which is told the codes by text message (`sms`) or called (`voice`).
    private static func newPhone(_ channel: String) -> Factor {
        Factor(key: .phoneCode, providerName: channel, id: new)
    }
    /// What is shown once, before anything else can go wrong.
    private static let recoveryCode = Factor(key: .text, providerName: "recovery-code")

    private static func isNew(_ factor: Factor) -> Bool { factor.id == new }

    /// What can be set up here, by the tenant's words for it; anything if it says none.
    static func enrollable(_ types: [String]?) -> [Factor] {
        let all: [(words: [String], factor: Factor)] = [
            (["otp"], Factor(key: .totp, providerName: "otp", id: new)),
            (["phone", "sms"], newPhone("sms")), (["phone", "voice"], newPhone("voice")),
            (["push-notification"], Factor(key: .push, providerName: "auth0", id: new)),
            (["email"], Factor(key: .emailCode, providerName: "email", id: new)),
        ]
        return all.filter { entry in types?.contains(where: entry.words.contains) ?? true }.map(\.factor)
    }

    /// Sets a factor up beside others, with the access token that is held.
    mutating func add(_ factor: Factor) async throws -> SignInStep<Auth0Session> {
        let held = try await tokens.store.read().credentials
        guard let access = held.accessToken else { throw RecoveryError.signedOut }
        let end = held.expiresAt ?? api.time.wallTime.advanced(by: MFAToken.lifetime)
        let token = MFAToken(value: access, endsAt: end)
        (self.token, enrollable, mark) = (token, [factor], held.auth0Mark ?? .null)
        return try await enroll(factor, token)
    }

    private mutating func enroll(_ factor: Factor, _ token: MFAToken) async throws -> SignInStep<Auth0Session> {
        (challenge, setup) = (nil, nil)
        self.factor = factor
        var members: [JSONValue.Member] = [
            JSONValue.Member("authenticator_types", [factor.key == .totp ? "otp" : "oob"])
        ]
        if factor.key != .totp { members.append(JSONValue.Member("oob_channels", [.string(factor.providerName)])) }
        if factor.key == .phoneCode {
            guard let phone else {
                let number = Factor(key: .phoneNumber, providerName: factor.providerName, id: Self.new)
                return .ask(Challenge(factor: number))
            }
            members.append(JSONValue.Member("phone_number", .string(phone.reveal())))
        }
        let answer = try await api.associate(members, token)
        challenge = Auth0Challenge(answer)
        setup = (answer["barcode_uri"]?.string ?? answer["secret"]?.string).map { Secret($0) }
        guard factor.key == .totp ? setup != nil : challenge != nil else {
            throw RecoveryError(.unreadable, in: nil)
        }
        guard let code = answer["recovery_codes"]?[0]?.string else { return asked(factor) }
        return .ask(Self.newRecoveryCode(Secret(code), "Then confirm with any text."))
    }

    /// Shows a recovery code.
    static func newRecoveryCode(_ code: Secret, _ more: String) -> Challenge {
        Challenge(
            factor: recoveryCode,
            prompt: "Write down this recovery code, which is shown this once. \(more)",
            setup: code
        )
    }
}
