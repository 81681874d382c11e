// Refreshing, with rotation and the detection of reuse (RFC 9700 section 4.14.2).
extension OAuthWorld {
    mutating func refresh(
        _ exchange: OAuthExchange,
        _ form: OAuthForm,
        _ client: SandboxOAuthClient,
        keyThumbprint: String?
    ) throws(OAuthFailure) -> JSONValue {
        let presented = try form.required("refresh_token")
        let dead = OAuthFailure.invalidGrant("The refresh token is invalid or expired.")
        guard let token = refreshTokens[presented], let family = families[token.family], family.client == client.id
        else { throw dead }
        let settings = exchange.settings
        if let replacedAt = token.replacedAt, exchange.now - replacedAt >= settings.grace {
            count(\.violations, family: family.number)
            revokeFamily(family.number, by: "reuse")
            throw dead
        }
        guard family.revokedBy == nil, token.expiresAt > exchange.now else { throw dead }
        guard family.keyThumbprint == nil || family.keyThumbprint == keyThumbprint else {
            throw .invalidGrant("The refresh token is bound to another key.")
        }
        guard people[family.subject].map({ $0.user.state == "active" }) ?? false else {
            throw .invalidGrant("The person may not sign in any more.")
        }
        let scope = try form.value("scope").map { text throws(OAuthFailure) in try scopes(text, client: nil) }
        guard (scope ?? []).allSatisfy(family.scope.contains) else {
            throw .invalidScope("The scope is wider than what was granted.")
        }
        let description = describe(
            family: family,
            scope: scope ?? family.scope,
            keyThumbprint: keyThumbprint,
            exchange: exchange
        )
        let access = issueAccessToken(description, exchange.issuer, isJWT: settings.usesJWT)
        count(token.replacedAt == nil ? \.refreshes : \.graceReuses, family: family.number)
        let next = nextRefreshToken(presented, token, family, exchange)
        return answer(access: access, description, refresh: next, exchange: exchange)
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
            return issueRefreshToken(family: family.number, settings: settings, now: exchange.now)
        }
        if settings.refreshIdle != nil, token.replacedAt == nil {
            // Its use makes a token that stays good for longer.
            refreshTokens[presented] = OAuthRefreshToken(
                family: token.family,
                generation: token.generation,
                issuedAt: token.issuedAt,
                expiresAt: min(
                    family.startedAt + settings.refreshLifetime,
                    exchange.now + (settings.refreshIdle ?? .max / 4)
                ),
                replacedAt: nil
            )
        }
        return settings.returnsRefreshToken == true ? family.newest : nil
    }
}
