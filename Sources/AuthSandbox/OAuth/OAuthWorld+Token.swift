import HTTPRecovery

// The token endpoint.
extension OAuthWorld {
    mutating func token(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        var exchange = exchange
        let name = try exchange.form.required("grant_type")
        exchange.client = try authenticate(exchange)
        guard let grant = OAuthGrantType(wireName: name) else {
            throw OAuthFailure("unsupported_grant_type", "There is no such grant here.")
        }
        guard exchange.client.mayUse(grant), grant != .clientCredentials || !exchange.client.isPublic else {
            throw OAuthFailure("unauthorized_client", "The client may not use this grant.")
        }
        exchange.key = try checkProof(exchange, accessToken: nil)
        switch grant {
        case .refreshToken: return try refresh(exchange)
        case .authorizationCode: return try exchangeCode(exchange)
        case .deviceCode: return try pollDevice(exchange)
        case .tokenExchange: return try exchangeToken(exchange)
        case .clientCredentials:
            let client = exchange.client
            let scope = try scopes(exchange.form.value("scope") ?? "", client: client)
            return issue(
                OAuthAccessToken(client: client.id, subject: client.id, scope: scope, exchange: exchange),
                exchange
            )
        }
    }

    /// The scopes of a parameter (RFC 6749 section 3.3).
    func scopes(_ text: String, client: SandboxOAuthClient?) throws(OAuthFailure) -> [String] {
        var scopes: [String] = []
        for part in text.split(separator: " ") where !scopes.contains(String(part)) { scopes.append(String(part)) }
        let isWellFormed = scopes.allSatisfy { scope in
            scope.utf8.count <= 200
                && scope.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != 0x5C }
        }
        guard scopes.count <= 50, isWellFormed else { throw .invalidScope("The scope is not well formed.") }
        if let allowed = client?.scopes, !scopes.allSatisfy(allowed.contains) {
            throw .invalidScope("The client may not ask for this scope.")
        }
        return scopes
    }

    /// The scopes of somebody who signs in: those asked for, or the default ones that the client may have.
    func personScopes(_ exchange: OAuthExchange) throws(OAuthFailure) -> [String] {
        let client = exchange.client
        if let asked = exchange.form.value("scope") { return try scopes(asked, client: client) }
        return try scopes(exchange.settings.defaultScope, client: nil).filter { client.scopes?.contains($0) ?? true }
    }

    /// The scopes of a request for less than was granted; nil where it does not say.
    private func narrowed(
        _ granted: [String],
        _ exchange: OAuthExchange,
        client: SandboxOAuthClient?,
        _ refusal: String
    ) throws(OAuthFailure) -> [String]? {
        guard let text = exchange.form.value("scope") else { return nil }
        let scope = try scopes(text, client: client)
        guard scope.allSatisfy(granted.contains) else { throw .invalidScope(refusal) }
        return scope
    }

    // MARK: Refreshing, with rotation and the detection of reuse (RFC 9700 section 4.14.2)

    private mutating func refresh(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let presented = try exchange.form.required("refresh_token")
        let dead = OAuthFailure.invalidGrant("The refresh token is invalid or expired.")
        guard let token = refreshTokens[presented], let family = families[token.family],
            family.client == exchange.client.id
        else { throw dead }
        if let replacedAt = token.replacedAt, exchange.now - replacedAt >= exchange.settings.grace {
            count(\.violations, family: family.number)
            revokeFamily(family.number, by: "reuse")
            throw dead
        }
        guard family.revokedBy == nil, token.expiresAt > exchange.now else { throw dead }
        guard family.key == nil || family.key == exchange.key else {
            throw .invalidGrant("The refresh token is bound to another key.")
        }
        guard people[family.subject].map({ $0.user.state == "active" }) ?? false else {
            throw .invalidGrant("The person may not sign in any more.")
        }
        let refusal = "The scope is wider than what was granted."
        let scope = try narrowed(family.scope, exchange, client: nil, refusal)
        count(token.replacedAt == nil ? \.refreshes : \.graceReuses, family: family.number)
        let access = OAuthAccessToken(family: family, scope: scope, exchange: exchange)
        return issue(access, exchange) { world in world.nextRefreshToken(presented, token, family, exchange) }
    }

    /// The refresh token of the answer; nil for none.
    private mutating func nextRefreshToken(
        _ presented: String,
        _ token: OAuthRefreshToken,
        _ family: OAuthFamily,
        _ exchange: OAuthExchange
    ) -> String? {
        let settings = exchange.settings
        if token.replacedAt != nil, settings.graceAnswer == "successor" { return family.newest }
        if settings.rotation == "rotating", settings.returnsRefreshToken != false {
            return issueRefreshToken(family: family.number, exchange)
        }
        if settings.refreshIdle != nil, token.replacedAt == nil {
            // Its use makes a token that stays good for longer.
            refreshTokens[presented]?.expiresAt = settings.refreshEnd(startedAt: family.startedAt, now: exchange.now)
        }
        return settings.returnsRefreshToken == true ? family.newest : nil
    }

    // MARK: Token exchange (RFC 8693)

    private static let tokenTypePrefix = "urn:ietf:params:oauth:token-type:"

    private mutating func exchangeToken(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let form = exchange.form
        let wanted = form.value("requested_token_type") ?? Self.tokenTypePrefix + "access_token"
        guard ["access_token", "jwt"].contains(where: { wanted == Self.tokenTypePrefix + $0 }) else {
            throw .invalidRequest("This requested_token_type is not made here.")
        }
        guard let subject = try party("subject", exchange) else {
            throw .invalidRequest("The parameter subject_token is missing.")
        }
        let actor = try party("actor", exchange)
        for target in form.all("resource") where !target.contains("://") || target.contains("#") {
            throw OAuthFailure("invalid_target", "A resource has to be an absolute URI without a fragment.")
        }
        let refusal = "The scope is wider than that of the subject token."
        let scope = try narrowed(subject.scope, exchange, client: exchange.client, refusal) ?? subject.scope
        var token = OAuthAccessToken(
            client: exchange.client.id,
            subject: subject.subject,
            scope: scope,
            exchange: exchange
        )
        token.family = subject.family
        token.authentication = subject.authentication
        token.actor = actor?.subject
        let audience = form.all("audience") + form.all("resource")
        if !audience.isEmpty { token.audience = audience }
        var exchange = exchange
        if wanted.hasSuffix(":jwt") { exchange.settings.usesJWT = true }
        return issue(token, exchange).adding("issued_token_type", .string(wanted))
    }

    /// Somebody for whom a token speaks.
    private struct Party {
        let subject: String
        var family: Int?
        let scope: [String]
        var authentication: OAuthAuthentication?
    }

    /// Whom the subject or the actor token speaks for; nil for a request without such a token.
    private func party(_ role: String, _ exchange: OAuthExchange) throws(OAuthFailure) -> Party? {
        guard let token = exchange.form.value("\(role)_token") else {
            guard exchange.form.value("\(role)_token_type") == nil else {
                throw .invalidRequest("\(role)_token_type stands there without \(role)_token.")
            }
            return nil
        }
        let type = try exchange.form.required("\(role)_token_type")
        var party: Party?
        switch type {
        case Self.tokenTypePrefix + "access_token", Self.tokenTypePrefix + "jwt":
            if let known = accessTokens[token], isLive(known, now: exchange.now) {
                party = Party(
                    subject: known.subject,
                    family: known.family,
                    scope: known.scope,
                    authentication: known.authentication
                )
            }
        case Self.tokenTypePrefix + "refresh_token":
            if let known = refreshTokens[token], known.replacedAt == nil, known.expiresAt > exchange.now,
                let family = families[known.family], family.revokedBy == nil
            {
                party = Party(
                    subject: family.subject,
                    family: family.number,
                    scope: family.scope,
                    authentication: family.authentication
                )
            }
        case Self.tokenTypePrefix + "id_token":
            party = subject(ofIDToken: token, now: exchange.now).map { Party(subject: $0, scope: ["openid"]) }
        default: throw .invalidRequest("This \(role)_token_type is not understood here.")
        }
        // RFC 8693 section 2.2.2 wants invalid_request for a token that is not good, too.
        guard let party else { throw .invalidRequest("The \(role)_token is not valid.") }
        return party
    }

    /// Whom an ID token of this sandbox speaks of.
    private func subject(ofIDToken token: String, now: Int64) -> String? {
        guard let jwt = OAuthJWT(token), let expires = jwt.claims["exp"]?.int, expires > now / 1000,
            let subject = jwt.claims["sub"]?.string, people[subject] != nil,
            let client = jwt.claims["aud"]?.string, jwt.isSigned(with: idTokenKey(of: client))
        else { return nil }
        return subject
    }
}
