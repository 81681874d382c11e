import HTTPRecovery

// The token endpoint.
extension OAuthWorld {
    mutating func token(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let name = try exchange.form.required("grant_type")
        exchange.client = try authenticate(exchange)
        guard let type = OAuthGrantType.onWire(name) else {
            throw OAuthFailure("unsupported_grant_type", "There is no such grant here.")
        }
        let client = exchange.client
        guard client.mayUse(type), type != .clientCredentials || !client.isPublic else {
            throw .unauthorized("The client may not use this grant.")
        }
        exchange.key = try checkProof(exchange, accessToken: nil)
        switch type {
        case .refreshToken: return try refresh(exchange)
        case .authorizationCode: return try exchangeCode(exchange, named: "code")
        case .interactionCode: return try exchangeCode(exchange, named: "interaction_code")
        case .deviceCode: return try pollDevice(exchange)
        case .tokenExchange: return try exchangeToken(exchange)
        case .clientCredentials:
            let scope = try scopes(exchange.form.value("scope") ?? "", client: client)
            return issue(
                OAuthAccessToken(.init(client: client.id, subject: client.id, scope: scope), exchange),
                exchange
            )
        }
    }

    /// The scopes of a parameter (RFC 6749 section 3.3).
    func scopes(_ text: String, client: SandboxOAuthClient?) throws(OAuthFailure) -> [String] {
        var scopes: [String] = []
        for part in text.split(separator: " ").map(String.init) where !scopes.contains(part) { scopes.append(part) }
        let isWellFormed = scopes.allSatisfy { scope in
            scope.utf8.count <= 200 && scope.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
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

    /// What a request asks for out of a grant, which is all of it unless it says so.
    private func narrowed(
        _ grant: OAuthGrant,
        _ exchange: OAuthExchange,
        client: SandboxOAuthClient?,
        _ refusal: String
    ) throws(OAuthFailure) -> [String] {
        guard let text = exchange.form.value("scope") else { return grant.scope }
        let scope = try scopes(text, client: client)
        guard scope.allSatisfy(grant.scope.contains) else { throw .invalidScope(refusal) }
        return scope
    }

    // MARK: Refreshing, with rotation and the detection of reuse (RFC 9700 section 4.14.2)

    private mutating func refresh(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let presented = try exchange.form.required("refresh_token")
        let dead = OAuthFailure.invalidGrant("The refresh token is invalid or expired.")
        guard let token = refreshTokens[presented], let family = families[token.family],
            family.grant.client == exchange.client.id
        else { throw dead }
        if let replacedAt = token.replacedAt, exchange.now - replacedAt >= exchange.settings.grace {
            count(\.violations, family: family.number)
            revokeFamily(family.number, by: "reuse")
            throw dead
        }
        guard family.revokedBy == nil, token.expiresAt > exchange.now else { throw dead }
        let rules: KeyValuePairs = [
            "The refresh token is bound to another key.": family.key == nil || family.key == exchange.key,
            "The person may not sign in any more.": people[family.grant.subject]?.user.state == "active",
        ]
        try OAuthFailure.demand(rules, or: OAuthFailure.invalidGrant)
        var grant = family.grant
        grant.scope = try narrowed(grant, exchange, client: nil, "The scope is wider than what was granted.")
        count(token.replacedAt == nil ? \.refreshes : \.graceReuses, family: family.number)
        return issue(OAuthAccessToken(grant, exchange), exchange) { world in
            world.nextRefreshToken(presented, token, family, exchange)
        }
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
        var grant = subject
        grant.client = exchange.client.id
        let refusal = "The scope is wider than that of the subject token."
        grant.scope = try narrowed(grant, exchange, client: exchange.client, refusal)
        var token = OAuthAccessToken(grant, exchange)
        token.actor = actor?.subject
        let audience = form.all("audience") + form.all("resource")
        if !audience.isEmpty { token.audience = audience }
        if wanted.hasSuffix(":jwt") { exchange.settings.usesJWT = true }
        return issue(token, exchange).adding("issued_token_type", .string(wanted))
    }

    /// What the subject or the actor token stands for; nil for a request without such a token.
    private func party(_ role: String, _ exchange: OAuthExchange) throws(OAuthFailure) -> OAuthGrant? {
        guard let token = exchange.form.value("\(role)_token") else {
            if exchange.form.value("\(role)_token_type") == nil { return nil }
            throw .invalidRequest("\(role)_token_type stands there without \(role)_token.")
        }
        let type = try exchange.form.required("\(role)_token_type")
        let grant: OAuthGrant?
        switch type {
        case Self.tokenTypePrefix + "access_token", Self.tokenTypePrefix + "jwt":
            grant = liveAccessToken(token, exchange)?.grant
        case Self.tokenTypePrefix + "refresh_token":
            grant = liveRefreshToken(token, grace: 0, exchange)?.family.grant
        case Self.tokenTypePrefix + "id_token": grant = self.grant(ofIDToken: token, now: exchange.now)
        default: throw .invalidRequest("This \(role)_token_type is not understood here.")
        }
        // RFC 8693 section 2.2.2 wants invalid_request for a token that is not good, too.
        guard let grant else { throw .invalidRequest("The \(role)_token is not valid.") }
        return grant
    }

    /// Whom an ID token of this sandbox speaks of.
    private func grant(ofIDToken token: String, now: Int64) -> OAuthGrant? {
        guard let jwt = OAuthJWT(token), let expires = jwt.claims["exp"]?.int, expires > now / 1000,
            let subject = jwt.claims["sub"]?.string, people[subject] != nil,
            let client = jwt.claims["aud"]?.string, hasSigned(jwt)
        else { return nil }
        return OAuthGrant(client: client, subject: subject, scope: ["openid"])
    }
}
