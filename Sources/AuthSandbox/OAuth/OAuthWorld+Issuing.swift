import HTTPRecovery

// Making tokens, and ending them.
extension OAuthWorld {
    /// The tokens of somebody who has just signed in, which begins a family: the answer of the token endpoint, and the
    /// number of the family.
    mutating func signIn(_ grant: OAuthGrant, _ exchange: OAuthExchange) -> (answer: JSONValue, family: Int) {
        lastFamily += 1
        let (number, client) = (lastFamily, exchange.client)
        var grant = grant
        grant.family = number
        let key = client.isPublic ? exchange.key : nil
        families[number] = OAuthFamily(number: number, grant: grant, startedAt: exchange.now, key: key)
        count(\.signIns, family: number)
        let isAsked = !exchange.settings.requiresOfflineAccess || grant.scope.contains("offline_access")
        let mayRefresh = isAsked && client.mayUse(.refreshToken)
        let answer = issue(OAuthAccessToken(grant, exchange), exchange) { world in
            mayRefresh ? world.issueRefreshToken(family: number, exchange) : nil
        }
        return (answer, number)
    }

    /// The first refresh token of a family, or the next one, which replaces the one before.
    mutating func issueRefreshToken(family number: Int, _ exchange: OAuthExchange) -> String? {
        guard let family = families[number] else { return nil }
        if let former = family.newest { refreshTokens[former]?.replacedAt = exchange.now }
        let token = "rt_" + random.letters(40)
        let end = exchange.settings.refreshEnd(startedAt: family.startedAt, now: exchange.now)
        refreshTokens[token] = OAuthRefreshToken(family: number, issuedAt: exchange.now, expiresAt: end)
        families[number]?.generation += 1
        families[number]?.newest = token
        return token
    }

    /// Makes an access token out of its description, and then perhaps a refresh token: the answer of the token endpoint
    /// (RFC 6749 section 5.1).
    mutating func issue(
        _ description: OAuthAccessToken,
        _ exchange: OAuthExchange,
        refresh: (inout OAuthWorld) -> String? = { _ in nil }
    ) -> JSONValue {
        var token = description
        lastAccessToken += 1
        token.number = lastAccessToken
        let (settings, grant) = (exchange.settings, token.grant)
        let id = random.letters(settings.usesJWT ? 20 : 40)
        let access = settings.usesJWT ? jwt(token, id: id, issuer: exchange.issuer) : "at_" + id
        accessTokens[access] = token
        let seconds = max(1, (token.expiresAt - exchange.now) / 1000)
        let expiresIn: [String: JSONValue] = ["number": .int(seconds), "string": .string(String(seconds))]
        let hasIDToken = grant.family != nil && grant.scope.contains("openid")
        return .present([
            "access_token": .string(access),
            "token_type": .string(token.type),
            "expires_in": expiresIn[settings.expiresIn],
            "refresh_token": refresh(&self).map(JSONValue.string),
            "scope": grant.scope.isEmpty ? nil : .string(grant.scope.joined(separator: " ")),
            "id_token": hasIDToken ? .string(idToken(token, exchange)) : nil,
        ])
    }

    private func jwt(_ token: OAuthAccessToken, id: String, issuer: String) -> String {
        let claims: JSONValue = .present([
            "iss": .string(issuer), "sub": .string(token.grant.subject),
            "aud": token.audience.count == 1 ? .string(token.audience[0]) : .texts(token.audience),
            "iat": .int(token.issuedAt / 1000), "exp": .int(token.expiresAt / 1000), "jti": .string(id),
            "client_id": .string(token.grant.client),
            "scope": .string(token.grant.scope.joined(separator: " ")),
            "auth_time": token.grant.authentication.map { .int($0.time / 1000) },
            "acr": token.grant.authentication?.acr.map(JSONValue.string),
            "act": token.actor.map { ["sub": .string($0)] },
            "cnf": token.key.map { ["jkt": .string($0)] },
        ])
        return OAuthJWT.make(type: "at+jwt", claims: claims, key: signingKey)
    }

    /// An ID token, signed with the provider's key, or (HS256) with the client's secret; a client without one has the
    /// sandbox's own in its place.
    private func idToken(_ token: OAuthAccessToken, _ exchange: OAuthExchange) -> String {
        let authentication = token.grant.authentication
        let (client, fault) = (token.grant.client, exchange.settings.idTokenFault)
        let email = token.grant.scope.contains("email") ? people[token.grant.subject]?.user.emails.first : nil
        let claims: JSONValue = .present([
            "iss": .string(exchange.issuer), "sub": .string(token.grant.subject),
            "aud": .string(fault == "other_audience" ? "not-\(client)" : client),
            "iat": .int(token.issuedAt / 1000), "exp": .int(token.issuedAt / 1000 + 3600),
            "auth_time": authentication.map { .int($0.time / 1000) },
            "acr": authentication?.acr.map(JSONValue.string),
            "nonce": authentication?.nonce.map { .string(fault == "other_nonce" ? $0 + "x" : $0) },
            "email": email.map(JSONValue.string),
        ])
        guard exchange.settings.idTokenAlgorithm == "HS256" else {
            return RSASigning.token(type: "JWT", claims: claims)
        }
        return OAuthJWT.make(type: "JWT", claims: claims, key: secret(of: client))
    }

    /// Whether an ID token is one of the provider's own, however it was signed.
    func hasSigned(_ token: OAuthJWT) -> Bool {
        guard let client = token.claims["aud"]?.string else { return false }
        switch token.header["alg"]?.string {
        case "RS256": return token.signature == RSASigning.signature(of: Array(token.content.utf8))
        case "HS256": return token.isSigned(with: secret(of: client))
        default: return false
        }
    }

    private func secret(of client: String) -> [UInt8] { clients[client]?.secret.map { Array($0.utf8) } ?? signingKey }

    // MARK: The end of tokens

    /// Whether an access token can still be used.
    func isLive(_ token: OAuthAccessToken, now: Int64) -> Bool {
        guard !token.isRevoked, token.expiresAt > now else { return false }
        guard let number = token.grant.family else { return true }
        return families[number].map { $0.revokedBy == nil } ?? false
    }

    /// An access token that can still be used.
    func liveAccessToken(_ text: String, _ exchange: OAuthExchange) -> OAuthAccessToken? {
        accessTokens[text].flatMap { isLive($0, now: exchange.now) ? $0 : nil }
    }

    /// A refresh token of a family that lives on, as long as it has not expired, nor been replaced for too long.
    func liveRefreshToken(
        _ text: String,
        grace: Int64,
        _ exchange: OAuthExchange
    ) -> (token: OAuthRefreshToken, family: OAuthFamily)? {
        guard let token = refreshTokens[text], let family = families[token.family], family.revokedBy == nil,
            token.expiresAt > exchange.now, token.replacedAt.map({ exchange.now - $0 < grace }) ?? true
        else { return nil }
        return (token, family)
    }

    /// Ends a family: its refresh tokens and every access token since the sign-in; false when it was over already.
    @discardableResult
    mutating func revokeFamily(_ number: Int, by cause: String) -> Bool {
        guard let family = families[number], family.revokedBy == nil else { return false }
        families[number]?.revokedBy = cause
        count(\.familiesRevoked, family: number)
        return true
    }

    /// Counts something for the provider, the client and the family.
    mutating func count(_ counter: WritableKeyPath<SandboxOAuthCounters, Int64>, family number: Int) {
        counters[keyPath: counter] += 1
        guard let client = families[number]?.grant.client else { return }
        families[number]?.counters[keyPath: counter] += 1
        clientCounters[client, default: SandboxOAuthCounters()][keyPath: counter] += 1
    }
}
