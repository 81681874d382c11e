import AuthRecovery
import HTTPRecovery

/// A sign-in as a machine: a first factor, then a second one if the tenant wants it.
struct Auth0SignInMachine: SignInMachine {
    var api: Auth0API
    /// Keeps the tokens that a renewal begins with.
    let tokens: TokenManager
    /// Whether it begins with the refresh token that is held, in place of a first factor.
    var renews = false
    /// What is to be set up with the access token that is held, in place of a sign-in; nil for nothing.
    var addition: Factor?
    /// What tells the session that a renewal goes on with from others; nil for a sign-in.
    var mark: JSONValue?
    /// What the caller begins with in place of a password; nil for the usual.
    var entry: Auth0Way?
    /// The account that a passkey is to be made with; nil for one that is there.
    var account: Auth0NewAccount?
    /// A token of another issuer that ``begin()`` presents, and its sort; forgotten once it was refused.
    var subject: Secret?
    var subjectType = ""
    var identifier: String
    /// What ``begin()`` presents; forgotten once it was refused.
    var password: Secret?
    /// What was sent out in place of a password.
    var errand: Auth0Errand?
    /// What the second step presents; nil before it.
    var token: MFAToken?
    /// What the person has enrolled and the tenant takes.
    var authenticators: [Auth0Authenticator] = []
    /// The code or push that was sent, and of which factor.
    var challenge: Auth0Challenge?
    var factor: Factor?
    /// What can be set up, since nothing is; and what is being set up.
    var enrollable: [Factor] = []
    var setup: Secret?
    var phone: Secret?
    /// How long to wait before the next question about a push.
    var interval: Duration

    init(
        _ auth0: Auth0,
        renews: Bool = false,
        entry: Auth0Way? = nil,
        identifier: String = "",
        password: Secret? = nil,
        making account: Auth0NewAccount? = nil
    ) {
        (api, tokens) = (auth0.api, auth0.tokens)
        self.renews = renews
        self.entry = entry
        self.account = account
        self.identifier = identifier
        self.password = password
        interval = api.configuration.pollInterval
    }

    init(_ auth0: Auth0, exchanging token: OAuthClient.ExchangeToken) {
        self.init(auth0)
        (subject, subjectType) = (token.token, token.type.rawValue)
    }

    static let passwordFactor = Auth0Way.password.factor()

    var openingFactor: Factor? { password.map { _ in Self.passwordFactor } }

    mutating func enter(_ context: SignInContext) {
        api.client = api.client.within(context.operation)
        name(identifier)
    }

    /// Takes whoever signs in to be somebody: from now on a lockout of theirs holds every call back.
    private mutating func name(_ identifier: String) {
        self.identifier = identifier
        api.account = identifier.isEmpty ? nil : Auth0.account(identifier, from: api.forwardedFor)
    }

    // MARK: The first factor

    mutating func begin() async throws -> SignInStep<Auth0Session> {
        (token, challenge, factor, authenticators, errand) = (nil, nil, nil, [], nil)
        (enrollable, setup, phone, mark) = ([], nil, nil, nil)
        if renews { return try await renew() }
        if let addition { return try await add(addition) }
        if let given = subject {
            // As of a password: what was refused, lost or broken off is not presented again.
            subject = nil
            let response = try await api.exchange(given, type: subjectType)
            subject = given
            return try await goOn(after: response)
        }
        // Nothing is sent to nobody.
        if let entry, !entry.needsName || !identifier.isEmpty { return try await go(entry) }
        guard !identifier.isEmpty else { return .ask(.identifier) }
        guard let given = password else {
            let ways = ways
            return ways.count > 1 ? .choose(ways) : .ask(Challenge(factor: Self.passwordFactor))
        }
        // Refused once is refused for good, and of what was lost or broken off nobody knows.
        password = nil
        let response: RecoveredResponse
        do {
            response = try await api.password(identifier, given)
        } catch let refusal as RecoveryError where refusal.kind == .challengeRequired && hasBrowser {
            // What shows that somebody is no robot is asked on the tenant's own page.
            return try goToBrowser(because: refusal.outcome)
        }
        // What was accepted may be presented again, if the second step takes too long.
        password = given
        return try await goOn(after: response)
    }

    private var hasBrowser: Bool { api.configuration.redirectURI != nil }

    /// What somebody can begin with.
    var ways: [Factor] {
        let usable = api.configuration.passwordless.filter { $0.isUsable(api.configuration) && $0.reaches(identifier) }
        let all = [.password] + usable.map { .passwordless($0) } + (hasBrowser ? [Auth0Way.browser] : [])
        return all.filter { !identifier.isEmpty || !$0.needsName }.map { $0.factor(to: identifier) }
    }

    private mutating func go(_ way: Auth0Way) async throws -> SignInStep<Auth0Session> {
        switch way {
        case .password: return .ask(Challenge(factor: Self.passwordFactor))
        case .browser: return try goToBrowser()
        case .passwordless(let way):
            errand = nil
            errand = try await api.sendCode(way, to: identifier, making: account)
            if way == .passkey { return try await signByKey() }
            return .ask(Challenge(factor: Auth0Way.passwordless(way).factor(to: identifier)))
        }
    }

    private mutating func goToBrowser(because cause: Outcome? = nil) throws -> SignInStep<Auth0Session> {
        let request = try api.loginRequest(hint: identifier.isEmpty ? nil : identifier)
        errand = Auth0Errand(request)
        return .ask(
            Challenge(
                factor: Auth0Way.browser.factor(),
                occasion: cause ?? Outcome(.challengeRequired),
                url: Secret(request.url)
            )
        )
    }

    /// Has the authenticator answer the challenge; without one the responder is asked.
    private mutating func signByKey() async throws -> SignInStep<Auth0Session> {
        guard let errand else { throw RecoveryError(.challengeExpired, [.newChallenge], in: nil) }
        guard let authenticator = api.configuration.authenticator else {
            let factor = Auth0Way.passwordless(.passkey).factor()
            return .ask(Challenge(factor: factor, hint: errand.options.description))
        }
        let credential = try await api.credential(errand, of: authenticator, isNew: account != nil)
        return try await present(Secret(credential.description), of: errand)
    }

    /// Presents the outcome of a passkey's ceremony.
    private mutating func present(_ credential: Secret, of errand: Auth0Errand) async throws -> SignInStep<Auth0Session>
    {
        guard let json = try? JSONValue(parsing: credential.reveal()), json.members != nil else {
            throw WebAuthn.Failure.unsupported().refusal
        }
        // The challenge is spent, whatever comes of it.
        self.errand = nil
        let response = try await api.passkey(json, of: errand)
        // From now on the account is there.
        account = nil
        return try await goOn(after: response)
    }

    /// Goes on after a first factor was right.
    mutating func goOn(after response: RecoveredResponse) async throws -> SignInStep<Auth0Session> {
        guard [.continue, .stepUpRequired].contains(response.outcome.kind) else {
            return .finished(try await keep(response))
        }
        let json = try await response.json()
        guard let value = json["mfa_token"]?.string, !value.isEmpty else {
            throw RecoveryError(.userActionRequired, [.visitProvider], in: response)
        }
        let token = MFAToken(value: Secret(value), endsAt: api.time.wallTime.advanced(by: MFAToken.lifetime))
        self.token = token
        return try await secondFactor(json["mfa_requirements"], token, in: response)
    }

    // MARK: Choices and answers

    mutating func choose(_ factor: Factor) async throws -> SignInStep<Auth0Session> {
        if factor.isSame(as: .identifier) { return .ask(.identifier) }
        if let way = Auth0Unlocking(factor) { return try await unlock(way) }
        if let way = Auth0Way(factor) { return try await go(way) }
        guard let token else { return .ask(Challenge(factor: factor)) }
        return try await use(factor, token)
    }

    mutating func submit(_ answer: Secret, to question: Challenge) async throws -> SignInStep<Auth0Session> {
        if question.factor.isSame(as: .identifier) {
            name(answer.reveal())
            return try await begin()
        }
        if question.key == .password {
            // Who enters it after a way out was offered says that the way was gone.
            if Auth0Unlocking(question.factor) != nil { await forgetLockout() }
            (password, entry) = (answer, nil)
            return try await begin()
        }
        if let token { return try await submit(answer, to: question, token) }
        guard let errand else { throw RecoveryError(.challengeExpired, [.newChallenge], in: nil) }
        switch errand.way {
        case .passwordless(.passkey): return try await present(answer, of: errand)
        case .browser, .passwordless(.emailLink):
            // A code that was on its way is spent, whatever comes of it.
            self.errand = nil
            let tokens = try await api.tokens(for: errand, redirectedTo: answer.reveal())
            return .finished(try await api.keep(tokens))
        default: return try await goOn(after: api.code(answer, of: errand))
        }
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
        let others =
            refusal?.kind == .passwordCompromised
            ? leakFactors : token == nil ? ways : enrollable.isEmpty ? authenticators.map(\.factor) : enrollable
        if others.contains(where: { !$0.isSame(as: factor) }) { return .choose(others) }
        if let refusal { throw refusal }
        return .choose([factor])
    }

    /// Begins again, since nobody can read where a sign-in stands.
    ///
    /// What was accepted before is presented again then; what was refused, lost or broken off is asked for.
    mutating func resync() async throws -> SignInStep<Auth0Session> { try await begin() }

    /// Stores the tokens of an answer.
    func keep(_ response: RecoveredResponse) async throws -> Auth0Session {
        try await api.keep(api.tokens(in: response), goingOn: mark)
    }
}
