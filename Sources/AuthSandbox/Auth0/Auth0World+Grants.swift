import HTTPRecovery

extension Auth0World {
    private static let prefix = "http://auth0.com/oauth/grant-type/"

    mutating func token(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        try exchange.checkClient()
        let grant = try exchange.required("grant_type")
        let name = grant.hasPrefix(Self.prefix) ? String(grant.dropFirst(Self.prefix.count)) : grant
        counters[name, default: 0] += 1
        guard exchange.settings.grants?.contains(name) ?? true else {
            throw Auth0Failure(403, "unauthorized_client", "Grant type '\(name)' not allowed for the client.")
        }
        switch name {
        case "password": return try password(exchange, &context)
        case "password-realm":
            let realm = try exchange.required("realm")
            guard exchange.settings.connections.contains(realm) else {
                throw Auth0Failure(400, "invalid_request", "the connection was not found")
            }
            return try password(exchange, &context)
        case "passwordless/otp": return try passwordless(exchange, &context)
        case "urn:okta:params:oauth:grant-type:webauthn": return try passkey(exchange, &context)
        case "urn:ietf:params:oauth:grant-type:token-exchange": return try exchangeToken(exchange)
        case Self.connectionGrant: return try connectionToken(exchange)
        case "authorization_code": return try exchangeCode(exchange)
        case "urn:ietf:params:oauth:grant-type:device_code": return try pollDevice(exchange)
        case "mfa-otp": return try app(exchange)
        case "mfa-oob": return try outOfBand(exchange)
        case "mfa-recovery-code": return try recoveryCode(exchange)
        case "refresh_token": return try refresh(exchange)
        default: throw Auth0Failure(501, "unsupported_grant_type", "Grant type '\(grant.prefix(100))' not supported.")
        }
    }

    // MARK: The password

    private mutating func password(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        let (name, password) = (try exchange.required("username"), try exchange.required("password"))
        let grant = try exchange.grant()
        spend("password", password)
        if exchange.settings.detectsBots { throw .bot }
        let person = try checkPassword(password, of: name, exchange, &context)
        return try finish(person, grant, exchange)
    }

    /// Whose password it is; one that is wrong counts against the name and against the address.
    mutating func checkPassword(
        _ password: String,
        of name: String,
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> Person {
        let pair = "\(name.lowercased())|\(exchange.address)"
        try checkSuspicion(exchange)
        try admit(to: "login \(pair)", .logins, exchange)
        let isLocked = self.person(named: name)?.lock.isClosed(now: exchange.now) ?? false
        guard !isLocked, failures[pair, default: 0] < exchange.settings.threshold else { throw .tooManyAttempts }
        guard let person = person(named: name), person.user.password == password else {
            failures[pair, default: 0] += 1
            suspicions[exchange.address, default: (0, exchange.now)].count += 1
            if failures[pair] == exchange.settings.threshold { mailUnblocking(name, exchange, &context) }
            throw .wrongPassword
        }
        failures[pair] = nil
        if ["compromised", "pwned"].contains(person.user.passwordState) || Self.isLeaked(password) {
            throw .leaked
        }
        return person
    }

    /// Whether somebody gets tokens at all, new ones and those of a renewal: an administrator or a rule may not want it.
    func admit(_ person: Person) throws(Auth0Failure) {
        guard person.user.state == "active" else { throw .blocked }
        if let refusal = person.user.auth0.refusal { throw Auth0Failure(403, "access_denied", refusal) }
    }

    /// What the first factor leads to: tokens, or the word that a second one is wanted.
    mutating func finish(
        _ person: Person,
        _ grant: Auth0Grant,
        _ exchange: Auth0Exchange
    ) throws(Auth0Failure) -> JSONValue {
        try admit(person)
        // Who has mail alone is not asked for a code before they manage what they have.
        let isFree = grant.isForFactors && person.user.auth0Factors.allSatisfy { $0 == "email" }
        guard isFree || person.user.auth0Factors.isEmpty && person.user.auth0.enrollments.isEmpty else {
            throw wantsFactor(of: person, grant, exchange)
        }
        return tokens.issue(to: person, grant, exchange, &random)
    }

    /// An address with too many failures is let pass one more login every 864 s.
    private mutating func checkSuspicion(_ exchange: Auth0Exchange) throws(Auth0Failure) {
        guard var suspicion = suspicions[exchange.address] else { return }
        let forgotten = max(0, (exchange.now - suspicion.since) / 864_000)
        suspicion = (max(0, suspicion.count - forgotten), suspicion.since + forgotten * 864_000)
        suspicions[exchange.address] = suspicion
        if suspicion.count >= exchange.settings.addressThreshold { throw .suspicious }
    }

    /// The word that a second factor is wanted, with what it is shown with.
    private mutating func wantsFactor(
        of person: Person,
        _ grant: Auth0Grant,
        _ exchange: Auth0Exchange
    ) -> Auth0Failure {
        let token = "Fe26." + random.letters(32)
        flows[token] = Flow(
            person: person.id,
            client: exchange.settings.clientID,
            grant: grant,
            endsAt: exchange.now + 600_000
        )
        var failure = Auth0Failure(403, "mfa_required", "Multifactor authentication required")
        failure.more = [JSONValue.Member("mfa_token", .string(token))]
        if exchange.settings.tellsRequirements {
            let (factors, new) = (person.user.auth0Factors, person.user.auth0.enrollments)
            let types: [JSONValue] = (factors.isEmpty ? new : factors).map { factor in
                ["type": .string(["sms": "phone", "voice": "phone", "push": "push-notification"][factor] ?? factor)]
            }
            let word = factors.isEmpty ? "enroll" : "challenge"
            failure.more.append(JSONValue.Member("mfa_requirements", .object([.init(word, .array(types))])))
        }
        return failure
    }

    /// Ends a sign-in whose second factor was right.
    mutating func finish(
        _ token: String,
        of person: Person,
        _ exchange: Auth0Exchange
    ) throws(Auth0Failure) -> JSONValue {
        guard let flow = flows.removeValue(forKey: token) ?? management(token, exchange) else { return .null }
        try admit(person)
        return tokens.issue(to: person, flow.grant, exchange, &random)
    }

    private mutating func refresh(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        let token = try exchange.required("refresh_token")
        spend("refresh_token", token)
        let family = try tokens.family(of: token, exchange)
        guard let person = people[family.person] else {
            throw Auth0Failure(
                403,
                "invalid_grant",
                "The refresh_token was generated for a user who doesn't exist anymore."
            )
        }
        try admit(person)
        let grant = try exchange.grant(within: family.grant)
        if exchange.settings.wantsFactorOnRefresh { throw wantsFactor(of: person, grant, exchange) }
        return tokens.renew(token, of: person, grant, exchange, &random)
    }

    // MARK: Second factors

    /// The sign-in that an mfa token stands for.
    func flow(_ token: String?, _ exchange: Auth0Exchange) throws(Auth0Failure) -> (token: String, person: Person) {
        guard let token else { throw .missing("mfa_token") }
        guard let flow = flows[token] ?? management(token, exchange), let person = people[flow.person] else {
            // An access token is a JWT, which an mfa token is not.
            throw OAuthJWT(token) == nil ? .malformedToken : .deadAccessToken
        }
        guard flow.client == exchange.settings.clientID else { throw .otherClient }
        guard flow.endsAt > exchange.now else { throw .tokenExpired }
        return (token, person)
    }

    /// What an access token for the MFA API stands for, as a sign-in that it may go on with; nil for any other token.
    func management(_ token: String, _ exchange: Auth0Exchange) -> Flow? {
        guard let access = tokens.access(token, now: exchange.now), access.grant.isForFactors else { return nil }
        return Flow(
            person: access.person,
            client: exchange.settings.clientID,
            grant: access.grant,
            endsAt: access.endsAt
        )
    }

    /// Refuses an access token that was not granted what is to be done; an mfa token may do what its sign-in needs.
    private func demand(_ scope: String, _ exchange: Auth0Exchange) throws(Auth0Failure) {
        guard let token = exchange.bearer, flows[token] == nil, let access = management(token, exchange) else { return }
        guard access.grant.has(scope) else {
            throw Auth0Failure(403, "insufficient_scope", "Insufficient scope, expected: \(scope)")
        }
    }

    /// Takes a factor away; the recovery code goes with the last.
    mutating func removeAuthenticator(_ exchange: Auth0Exchange) throws(Auth0Failure) -> SandboxResponse {
        guard let token = exchange.bearer, management(token, exchange) != nil else { throw .deadAccessToken }
        try demand("remove:authenticators", exchange)
        let (_, person) = try flow(token, exchange)
        let id = exchange.request.segments.last ?? ""
        guard let factor = person.user.auth0Factors.first(where: { "\($0)|\(person.id)" == id }) else {
            throw Auth0Failure(404, "not_found", "The authenticator does not exist.")
        }
        var left = person.user.auth0Factors.filter { $0 != factor }
        if left == ["recovery-code"] { left = [] }
        people[person.id]?.user.auth0.factors = left
        if !left.contains("recovery-code") { people[person.id]?.recoveryCode = nil }
        return SandboxResponse(status: 204)
    }

    mutating func authenticators(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        try demand("read:authenticators", exchange)
        let (_, person) = try flow(exchange.bearer, exchange)
        return .array(
            person.user.auth0Factors.map { factor in
                let channel = ["sms": "sms", "voice": "voice", "email": "email", "push": "auth0"][factor]
                return .present([
                    "id": .string("\(factor)|\(person.id)"),
                    "authenticator_type": .string(channel == nil ? factor : "oob"),
                    "oob_channel": channel.map(JSONValue.string),
                    "active": true,
                    "name": address(factor, person).map { .string(Self.masked($0)) },
                ])
            }
        )
    }

    func address(_ factor: String, _ person: Person) -> String? {
        switch factor {
        case "sms", "voice": person.user.phones.first ?? "+10000000000"
        case "email": person.user.emails.first
        default: nil
        }
    }

    private static func masked(_ address: String) -> String { "\(address.prefix(1))XXXX\(address.suffix(4))" }

    mutating func challenge(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        try exchange.checkClient()
        let (token, person) = try flow(exchange["mfa_token"], exchange)
        let factor = exchange["authenticator_id"]?.split(separator: "|").first.map(String.init)
        if factor == "otp" { return ["challenge_type": "otp"] }
        guard let factor, person.user.auth0Factors.contains(factor), ["sms", "voice", "email", "push"].contains(factor)
        else {
            throw Auth0Failure(400, "unsupported_challenge_type", "User is not enrolled with this authenticator.")
        }
        let address = address(factor, person)
        let name = try send(factor, to: address, token, person, exchange, &context)
        guard address != nil else { return ["challenge_type": "oob", "oob_code": .string(name)] }
        return ["challenge_type": "oob", "oob_code": .string(name), "binding_method": "prompt"]
    }

    private mutating func app(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        var (token, person) = try flow(exchange["mfa_token"], exchange)
        let code = try exchange.required("otp")
        spend("otp", code)
        try checkWrongCodes(of: person, exchange.now)
        let step = TOTP.step(atMilliseconds: exchange.now)
        let newKey = flows[token]?.newKey ?? person.newKey
        guard let secret = (newKey ?? person.user.totpSecret).flatMap(Base32.decode),
            let fitting = (step - 1...step + 1).first(where: { TOTP.code(secret: secret, step: $0) == code }),
            fitting > person.lastStep
        else {
            noteWrongCode(of: person, exchange.now)
            throw Auth0Failure(403, "invalid_grant", "Invalid otp_code.")
        }
        person.lastStep = fitting
        if let newKey {
            (person.user.totpSecret, person.newKey) = (newKey, nil)
            person.enroll("otp")
        }
        people[person.id] = person
        return try finish(token, of: person, exchange)
    }

    private mutating func outOfBand(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        var (token, person) = try flow(exchange["mfa_token"], exchange)
        let name = try exchange.required("oob_code")
        guard var challenge = challenges[name], challenge.token == token else {
            throw Auth0Failure(403, "invalid_request", "The oob_code doesn't match the mfa_token.")
        }
        guard challenge.endsAt > exchange.now else { throw Auth0Failure(403, "expired_token", "oob_code is expired") }
        if let code = challenge.code {
            guard let given = exchange["binding_code"] else { throw .missing("binding_code") }
            spend("binding_code", given)
            try checkWrongCodes(of: person, exchange.now)
            guard given == code else {
                noteWrongCode(of: person, exchange.now)
                throw Auth0Failure(403, "invalid_grant", "Invalid binding_code.")
            }
        } else {
            let isTooFast = challenge.lastPoll.map { exchange.now < $0 + 5000 } ?? false
            challenge.lastPoll = exchange.now
            challenges[name] = challenge
            switch challenge.decision {
            case .denied: throw .rejected(exchange.settings.pushRejectionStatus)
            case .pending: throw isTooFast ? .slowDown : .pending
            case .approved: break
            }
        }
        challenges[name] = nil
        if let enrollment = challenge.enrollment {
            if let phone = enrollment.phone { person.user.phones = [phone] }
            person.enroll(enrollment.factor)
            people[person.id] = person
        }
        return try finish(token, of: person, exchange)
    }

    private mutating func recoveryCode(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        var (token, person) = try flow(exchange["mfa_token"], exchange)
        let code = try exchange.required("recovery_code")
        spend("recovery_code", code)
        try checkWrongCodes(of: person, exchange.now)
        guard code == person.recoveryCode else {
            noteWrongCode(of: person, exchange.now)
            throw Auth0Failure(403, "invalid_grant", "MFA Authorization rejected.")
        }
        let next = random.letters(24).uppercased()
        person.recoveryCode = next
        people[person.id] = person
        return try finish(token, of: person, exchange).adding("recovery_code", .string(next))
    }

    /// Ten wrong codes are one too many; one of them is forgotten every six minutes.
    private mutating func checkWrongCodes(of person: Person, _ now: Int64) throws(Auth0Failure) {
        let forgotten = (now - person.wrongCodes.since) / 360_000
        if forgotten > 0 {
            people[person.id]?.wrongCodes = (max(0, person.wrongCodes.count - forgotten), now)
        }
        if people[person.id]?.wrongCodes.count ?? 0 >= 10 { throw .tooManyCodes }
    }

    private mutating func noteWrongCode(of person: Person, _ now: Int64) {
        guard let wrong = people[person.id]?.wrongCodes else { return }
        people[person.id]?.wrongCodes = (wrong.count + 1, wrong.count == 0 ? now : wrong.since)
    }
}
