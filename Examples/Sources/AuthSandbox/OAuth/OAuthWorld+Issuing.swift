// Making tokens, and ending them.
extension OAuthWorld {
    /// Begins a family, without any token in it.
    mutating func startFamily(
        client: String,
        subject: String,
        scope: [String],
        authentication: OAuthAuthentication,
        keyThumbprint: String?,
        now: Int64
    ) -> Int {
        lastFamily += 1
        families[lastFamily] = OAuthFamily(
            number: lastFamily,
            client: client,
            subject: subject,
            scope: scope,
            startedAt: now,
            authentication: authentication,
            keyThumbprint: keyThumbprint
        )
        count(\.signIns, family: lastFamily)
        return lastFamily
    }

    /// The first refresh token of a family, or the next one, which replaces the one before.
    mutating func issueRefreshToken(family number: Int, settings: SandboxOAuthSettings, now: Int64) -> String {
        guard var family = families[number] else { return "" }
        if let former = family.newest { refreshTokens[former]?.replacedAt = now }
        family.generation += 1
        let token = "rt_" + random.letters(40)
        refreshTokens[token] = OAuthRefreshToken(
            family: number,
            generation: family.generation,
            issuedAt: now,
            expiresAt: min(family.startedAt + settings.refreshLifetime, now + (settings.refreshIdle ?? .max / 4)),
            replacedAt: nil
        )
        family.newest = token
        families[number] = family
        return token
    }

    /// Makes an access token out of its description.
    mutating func issueAccessToken(_ token: OAuthAccessToken, _ issuer: String, isJWT: Bool) -> String {
        let id = random.letters(isJWT ? 20 : 40)
        var text = "at_" + id
        if isJWT {
            var claims: JSONValue = [
                "iss": .string(issuer),
                "sub": .string(token.subject),
                "aud": token.audience.count == 1
                    ? .string(token.audience[0]) : .array(token.audience.map(JSONValue.string)),
                "iat": .int(token.issuedAt / 1000),
                "exp": .int(token.expiresAt / 1000),
                "jti": .string(id),
                "client_id": .string(token.client),
                "scope": .string(token.scope.joined(separator: " ")),
            ]
            if let time = token.authentication?.time { claims = claims.adding("auth_time", .int(time / 1000)) }
            if let acr = token.authentication?.acr { claims = claims.adding("acr", .string(acr)) }
            if let actor = token.actor { claims = claims.adding("act", ["sub": .string(actor)]) }
            if let key = token.keyThumbprint { claims = claims.adding("cnf", ["jkt": .string(key)]) }
            text = OAuthJWT.make(type: "at+jwt", claims: claims, key: signingKey)
        }
        accessTokens[text] = token
        return text
    }

    /// What the next access token of a family is.
    mutating func describe(
        family: OAuthFamily,
        scope: [String],
        keyThumbprint: String?,
        exchange: OAuthExchange
    ) -> OAuthAccessToken {
        lastAccessToken += 1
        return OAuthAccessToken(
            number: lastAccessToken,
            family: family.number,
            client: family.client,
            subject: family.subject,
            scope: scope,
            issuedAt: exchange.now,
            expiresAt: exchange.now + exchange.settings.accessLifetime,
            audience: [exchange.origin + "/api"],
            actor: nil,
            keyThumbprint: keyThumbprint,
            authentication: family.authentication
        )
    }

    /// The tokens of somebody who has just signed in.
    mutating func signIn(
        family number: Int,
        keyThumbprint: String?,
        exchange: OAuthExchange
    ) -> JSONValue {
        guard let family = families[number] else { return [:] }
        let description = describe(
            family: family,
            scope: family.scope,
            keyThumbprint: keyThumbprint,
            exchange: exchange
        )
        let settings = exchange.settings
        let access = issueAccessToken(description, exchange.issuer, isJWT: settings.usesJWT)
        let mayRefresh = clients[family.client]?.grantTypes?.contains("refresh_token") ?? true
        let isAsked = !settings.requiresOfflineAccess || family.scope.contains("offline_access")
        let refresh =
            mayRefresh && isAsked ? issueRefreshToken(family: number, settings: settings, now: exchange.now) : nil
        return answer(access: access, description, refresh: refresh, exchange: exchange)
    }

    /// The answer of the token endpoint (RFC 6749 section 5.1).
    func answer(
        access: String,
        _ token: OAuthAccessToken,
        refresh: String?,
        exchange: OAuthExchange
    ) -> JSONValue {
        var body: JSONValue = [
            "access_token": .string(access),
            "token_type": token.keyThumbprint == nil ? "Bearer" : "DPoP",
        ]
        let seconds = max(1, (token.expiresAt - exchange.now) / 1000)
        switch exchange.settings.expiresIn {
        case "absent": break
        case "string": body = body.adding("expires_in", .string(String(seconds)))
        default: body = body.adding("expires_in", .int(seconds))
        }
        if let refresh { body = body.adding("refresh_token", .string(refresh)) }
        if !token.scope.isEmpty { body = body.adding("scope", .string(token.scope.joined(separator: " "))) }
        if token.family != nil, token.scope.contains("openid") {
            body = body.adding("id_token", .string(idToken(token, exchange: exchange)))
        }
        return body
    }

    /// An ID token, signed (HS256) with the client's secret, or with the sandbox's own key for a client without one.
    private func idToken(_ token: OAuthAccessToken, exchange: OAuthExchange) -> String {
        var claims: JSONValue = [
            "iss": .string(exchange.issuer),
            "sub": .string(token.subject),
            "aud": .string(token.client),
            "iat": .int(token.issuedAt / 1000),
            "exp": .int(token.issuedAt / 1000 + 3600),
        ]
        if let authentication = token.authentication {
            claims = claims.adding("auth_time", .int(authentication.time / 1000))
            if let acr = authentication.acr { claims = claims.adding("acr", .string(acr)) }
            if let nonce = authentication.nonce { claims = claims.adding("nonce", .string(nonce)) }
        }
        if token.scope.contains("email"), let email = people[token.subject]?.user.emails.first {
            claims = claims.adding("email", .string(email))
        }
        let key = clients[token.client]?.secret.map { Array($0.utf8) } ?? signingKey
        return OAuthJWT.make(type: "JWT", claims: claims, key: key)
    }

    // MARK: The end of tokens

    /// Whether an access token can still be used.
    func isLive(_ token: OAuthAccessToken, now: Int64) -> Bool {
        guard !token.isRevoked, token.expiresAt > now else { return false }
        guard let number = token.family else { return true }
        return families[number].map { $0.revokedBy == nil } ?? false
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
        guard let client = families[number]?.client else { return }
        families[number]?.counters[keyPath: counter] += 1
        clientCounters[client, default: SandboxOAuthCounters()][keyPath: counter] += 1
    }
}
