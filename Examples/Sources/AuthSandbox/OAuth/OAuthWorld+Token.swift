// The token endpoint.
extension OAuthWorld {
    mutating func token(_ exchange: OAuthExchange, context: inout SandboxContext) throws(OAuthFailure) -> JSONValue {
        let form = try OAuthForm(body: exchange.request)
        let name = try form.required("grant_type")
        let client = try authenticate(exchange, form)
        guard let grant = OAuthGrantType(wireName: name) else {
            throw OAuthFailure("unsupported_grant_type", "There is no such grant here.")
        }
        let isAllowed = client.grantTypes?.contains(grant.rawValue) ?? true
        guard isAllowed, grant != .clientCredentials || !client.isPublic else {
            throw OAuthFailure("unauthorized_client", "The client may not use this grant.")
        }
        let key = try checkProof(exchange, accessToken: nil)
        switch grant {
        case .refreshToken: return try refresh(exchange, form, client, keyThumbprint: key)
        case .clientCredentials: return try clientCredentials(exchange, form, client, keyThumbprint: key)
        case .authorizationCode: return try exchangeCode(exchange, form, client, keyThumbprint: key)
        case .deviceCode: return try pollDevice(exchange, form, client, keyThumbprint: key)
        case .tokenExchange: return try exchangeToken(exchange, form, client, keyThumbprint: key)
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
    func personScopes(
        _ form: OAuthForm,
        _ client: SandboxOAuthClient,
        _ settings: SandboxOAuthSettings
    ) throws(OAuthFailure) -> [String] {
        if let asked = form.value("scope") { return try scopes(asked, client: client) }
        return try scopes(settings.defaultScope, client: nil).filter { client.scopes?.contains($0) ?? true }
    }

    private mutating func clientCredentials(
        _ exchange: OAuthExchange,
        _ form: OAuthForm,
        _ client: SandboxOAuthClient,
        keyThumbprint: String?
    ) throws(OAuthFailure) -> JSONValue {
        let scope = try scopes(form.value("scope") ?? "", client: client)
        lastAccessToken += 1
        let description = OAuthAccessToken(
            number: lastAccessToken,
            family: nil,
            client: client.id,
            subject: client.id,
            scope: scope,
            issuedAt: exchange.now,
            expiresAt: exchange.now + exchange.settings.accessLifetime,
            audience: [exchange.origin + "/api"],
            actor: nil,
            keyThumbprint: keyThumbprint,
            authentication: nil
        )
        let access = issueAccessToken(description, exchange.issuer, isJWT: exchange.settings.usesJWT)
        return answer(access: access, description, refresh: nil, exchange: exchange)
    }

    // MARK: Token exchange (RFC 8693)

    private static let tokenTypePrefix = "urn:ietf:params:oauth:token-type:"

    private mutating func exchangeToken(
        _ exchange: OAuthExchange,
        _ form: OAuthForm,
        _ client: SandboxOAuthClient,
        keyThumbprint: String?
    ) throws(OAuthFailure) -> JSONValue {
        let wanted = form.value("requested_token_type") ?? Self.tokenTypePrefix + "access_token"
        guard ["access_token", "jwt"].contains(where: { wanted == Self.tokenTypePrefix + $0 }) else {
            throw .invalidRequest("This requested_token_type is not made here.")
        }
        guard let subject = try party("subject", exchange, form) else {
            throw .invalidRequest("The parameter subject_token is missing.")
        }
        let actor = try party("actor", exchange, form)
        for target in form.all("resource") where !target.contains("://") || target.contains("#") {
            throw OAuthFailure("invalid_target", "A resource has to be an absolute URI without a fragment.")
        }
        let scope = try form.value("scope").map { text throws(OAuthFailure) in try scopes(text, client: client) }
        guard (scope ?? []).allSatisfy(subject.scope.contains) else {
            throw .invalidScope("The scope is wider than that of the subject token.")
        }
        let audience = form.all("audience") + form.all("resource")
        lastAccessToken += 1
        let description = OAuthAccessToken(
            number: lastAccessToken,
            family: subject.family,
            client: client.id,
            subject: subject.subject,
            scope: scope ?? subject.scope,
            issuedAt: exchange.now,
            expiresAt: exchange.now + exchange.settings.accessLifetime,
            audience: audience.isEmpty ? [exchange.origin + "/api"] : audience,
            actor: actor?.subject,
            keyThumbprint: keyThumbprint,
            authentication: subject.authentication
        )
        let isJWT = exchange.settings.usesJWT || wanted.hasSuffix(":jwt")
        let access = issueAccessToken(description, exchange.issuer, isJWT: isJWT)
        return answer(access: access, description, refresh: nil, exchange: exchange)
            .adding("issued_token_type", .string(wanted))
    }

    /// Somebody for whom a token speaks.
    private struct Party {
        let subject: String
        let family: Int?
        let scope: [String]
        let authentication: OAuthAuthentication?
    }

    /// Whom the subject or the actor token speaks for; nil for a request without such a token.
    private func party(
        _ role: String,
        _ exchange: OAuthExchange,
        _ form: OAuthForm
    ) throws(OAuthFailure) -> Party? {
        guard let token = form.value("\(role)_token") else {
            guard form.value("\(role)_token_type") == nil else {
                throw .invalidRequest("\(role)_token_type stands there without \(role)_token.")
            }
            return nil
        }
        let type = try form.required("\(role)_token_type")
        switch type {
        case Self.tokenTypePrefix + "access_token", Self.tokenTypePrefix + "jwt":
            if let known = accessTokens[token], isLive(known, now: exchange.now) {
                return Party(
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
                return Party(
                    subject: family.subject,
                    family: family.number,
                    scope: family.scope,
                    authentication: family.authentication
                )
            }
        case Self.tokenTypePrefix + "id_token":
            if let subject = subject(ofIDToken: token, now: exchange.now) {
                return Party(subject: subject, family: nil, scope: ["openid"], authentication: nil)
            }
        default: throw .invalidRequest("This \(role)_token_type is not understood here.")
        }
        // RFC 8693 section 2.2.2 wants invalid_request for a token that is not good, too.
        throw .invalidRequest("The \(role)_token is not valid.")
    }

    /// Whom an ID token of this sandbox speaks of.
    private func subject(ofIDToken token: String, now: Int64) -> String? {
        guard let jwt = OAuthJWT(token), let expires = jwt.claims["exp"]?.int, expires > now / 1000,
            let subject = jwt.claims["sub"]?.string, people[subject] != nil,
            let client = jwt.claims["aud"]?.string
        else { return nil }
        let key = clients[client]?.secret.map { Array($0.utf8) } ?? signingKey
        return jwt.signature == HMAC.sha256(Array(jwt.content.utf8), key: key) ? subject : nil
    }
}
