import HTTPRecovery

/// The tokens of a tenant: families of refresh tokens that replace one another, and access tokens.
struct Auth0Tokens: Sendable {
    /// All that has come of one sign-in.
    struct Family: Sendable {
        /// The person's id.
        let person: String
        let grant: Auth0Grant
        /// The thumbprint of the key that its refresh tokens are bound to; nil for none.
        let key: String?
        /// The session of the browser that the sign-in was made in; nil for none.
        let session: String?
        /// When the sign-in was, and when a token of it was used last.
        let startedAt: Int64
        fileprivate var usedAt: Int64
        /// The generation of its newest refresh token.
        fileprivate var newest = 0

        fileprivate func isOver(_ exchange: Auth0Exchange) -> Bool {
            let settings = exchange.settings
            return exchange.now >= startedAt + settings.refreshLifetime
                || settings.refreshIdle.map { exchange.now >= usedAt + $0 } ?? false
        }
    }

    /// One refresh token.
    private struct Refresh: Sendable {
        let family: Int
        /// Which of its family it is.
        let generation: Int
        /// When it was replaced; nil while it was not used.
        var replacedAt: Int64?
    }

    /// An access token.
    struct Access: Sendable {
        /// The person's id.
        let person: String
        let grant: Auth0Grant
        let endsAt: Int64
        /// The thumbprint of the key that it is bound to; nil for none.
        let key: String?
    }

    private var families: [Int: Family] = [:]
    private var refresh: [String: Refresh] = [:]
    private var access: [String: Access] = [:]
    private var lastFamily = 0

    /// Gives tokens to somebody who has signed in; those that last begin a family.
    mutating func issue(
        to person: Auth0World.Person,
        _ grant: Auth0Grant,
        _ exchange: Auth0Exchange,
        nonce: String? = nil,
        session: String? = nil,
        _ random: inout SplitMix64
    ) -> JSONValue {
        refresh.forget(over: Auth0World.capacity) { $0.replacedAt == nil }
        access.forget(over: Auth0World.capacity) { $0.endsAt > exchange.now }
        families.forget(over: Auth0World.capacity) { _ in false }
        guard grant.has("offline_access") else {
            return answer(person, grant, exchange, refresh: nil, nonce: nonce, session: session, &random)
        }
        // Who has as many as one may have loses the oldest, and is told nothing of it.
        let own = families.filter { $0.value.person == person.id }.keys.sorted()
        for family in own.prefix(max(0, own.count + 1 - Int(clamping: exchange.settings.tokenLimit))) { end(family) }
        lastFamily += 1
        // Those of a client that proves itself are bound to that.
        let key = exchange.settings.clientSecret == nil ? exchange.key : nil
        families[lastFamily] = Family(
            person: person.id,
            grant: grant,
            key: key,
            session: session,
            startedAt: exchange.now,
            usedAt: exchange.now
        )
        let token = newToken(lastFamily, &random)
        return answer(person, grant, exchange, refresh: token, nonce: nonce, session: session, &random)
    }

    /// What a refresh token stands for; the use of one that was replaced too long ago is the end of its family.
    mutating func family(of token: String, _ exchange: Auth0Exchange) throws(Auth0Failure) -> Family {
        guard let known = refresh[token], let family = families[known.family] else { throw .deadRefreshToken }
        guard family.key == nil || family.key == exchange.key else {
            throw Auth0Failure(400, "invalid_dpop_proof", "The refresh token is bound to another key.")
        }
        guard !family.isOver(exchange) else {
            end(known.family)
            throw .deadRefreshToken
        }
        if let replacedAt = known.replacedAt {
            // Within the leeway the one before the newest is taken; any older one is always reuse.
            let isBefore = known.generation + 1 == family.newest
            guard isBefore, exchange.now < replacedAt + exchange.settings.leeway else {
                end(known.family)
                throw .deadRefreshToken
            }
        }
        return family
    }

    /// Exchanges a refresh token that is good.
    mutating func renew(
        _ token: String,
        of person: Auth0World.Person,
        _ grant: Auth0Grant,
        _ exchange: Auth0Exchange,
        _ random: inout SplitMix64
    ) -> JSONValue {
        var next: String?
        if let known = refresh[token] { families[known.family]?.usedAt = exchange.now }
        if exchange.settings.rotates, let known = refresh[token] {
            refresh[token]?.replacedAt = known.replacedAt ?? exchange.now
            next = newToken(known.family, &random)
        }
        let session = refresh[token].flatMap { families[$0.family]?.session }
        return answer(person, grant, exchange, refresh: next, session: session, &random)
    }

    /// Ends the family of a refresh token; one that nobody knows is no error.
    mutating func revoke(_ token: String) {
        if let known = refresh[token] { end(known.family) }
    }

    /// Ends all that somebody has.
    ///
    /// - Parameter accessOnly: Access tokens alone.
    mutating func end(person: String, accessOnly: Bool) {
        access = access.filter { $0.value.person != person }
        guard !accessOnly else { return }
        for (family, value) in families where value.person == person { end(family) }
    }

    /// What an access token stands for; nil for one that is over.
    func access(_ token: String, now: Int64) -> Access? { access[token].flatMap { $0.endsAt > now ? $0 : nil } }

    private mutating func end(_ family: Int) {
        families[family] = nil
        refresh = refresh.filter { $0.value.family != family }
    }

    private mutating func newToken(_ family: Int, _ random: inout SplitMix64) -> String {
        let token = "v1." + random.letters(43)
        let generation = (families[family]?.newest ?? 0) + 1
        families[family]?.newest = generation
        refresh[token] = Refresh(family: family, generation: generation)
        return token
    }

    private mutating func answer(
        _ person: Auth0World.Person,
        _ grant: Auth0Grant,
        _ exchange: Auth0Exchange,
        refresh: String?,
        nonce: String? = nil,
        session: String?,
        _ random: inout SplitMix64
    ) -> JSONValue {
        let (settings, now) = (exchange.settings, exchange.now)
        let lifetime = grant.isForFactors ? min(600_000, settings.accessLifetime) : settings.accessLifetime
        let endsAt = now + lifetime
        var token = random.letters(32)
        if let audience = grant.audience {
            // Whoever serves the API reads it: what is unreadable is for the profile alone.
            let claims: JSONValue = .present([
                "iss": .string(exchange.tenant + "/"), "sub": .string(person.id),
                "aud": .texts([audience] + (grant.has("openid") ? [exchange.tenant + "/userinfo"] : [])),
                "azp": .string(settings.clientID), "scope": .string(grant.scopes.joined(separator: " ")),
                "iat": .int(now / 1000), "exp": .int(endsAt / 1000), "jti": .string(token),
                "cnf": exchange.key.map { ["jkt": .string($0)] },
            ])
            token = RSASigning.token(type: "at+jwt", claims: claims)
        }
        access[token] = Access(person: person.id, grant: grant, endsAt: endsAt, key: exchange.key)
        let claims: JSONValue = .present([
            "iss": .string(exchange.tenant + "/"), "sub": .string(person.id),
            "email": grant.has("email") ? .optional(person.user.emails.first) : nil,
            "name": grant.has("profile") ? person.user.firstName.map(JSONValue.string) : nil,
            "iat": .int(now / 1000), "exp": .int(now / 1000 + 36_000), "aud": .string(settings.clientID),
            "nonce": nonce.map(JSONValue.string),
            "sid": session.map(JSONValue.string),
            "session_expiry": settings.sessionLife.map { .int((now + $0) / 1000) },
        ])
        return .present([
            "access_token": .string(token),
            "refresh_token": refresh.map(JSONValue.string),
            "id_token": grant.has("openid") ? .string(Self.identity(claims, settings)) : nil,
            "scope": grant.told.map(JSONValue.string),
            "expires_in": .int(max(1, lifetime / 1000)),
            "token_type": exchange.key == nil ? "Bearer" : "DPoP",
        ])
    }

    /// An ID token, signed as the app wants it: with the tenant's key, or with the app's secret.
    private static func identity(_ claims: JSONValue, _ settings: SandboxAuth0Settings) -> String {
        guard settings.idTokenAlgorithm == "HS256" else { return RSASigning.token(type: "JWT", claims: claims) }
        return OAuthJWT.make(type: "JWT", claims: claims, key: Array((settings.clientSecret ?? "").utf8))
    }

    /// What an ID token tells that is the tenant's own, however old; nil for any other.
    static func claims(ofIdentity token: String, _ exchange: Auth0Exchange) -> JSONValue? {
        guard let token = OAuthJWT(token), token.claims["iss"]?.string == exchange.tenant + "/" else { return nil }
        let isOwn =
            token.header["alg"] == "HS256"
            ? token.isSigned(with: Array((exchange.settings.clientSecret ?? "").utf8))
            : token.signature == RSASigning.signature(of: Array(token.content.utf8))
        return isOwn ? token.claims : nil
    }
}
