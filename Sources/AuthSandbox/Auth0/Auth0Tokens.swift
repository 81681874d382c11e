import HTTPRecovery

/// The tokens of a tenant: families of refresh tokens that replace one another, and access tokens.
struct Auth0Tokens: Sendable {
    /// One refresh token.
    private struct Refresh: Sendable {
        let family: Int
        /// Which of its family it is.
        let generation: Int
        /// When it was replaced; nil while it was not used.
        var replacedAt: Int64?
    }

    private var people: [Int: String] = [:]
    /// The newest generation of each family.
    private var newest: [Int: Int] = [:]
    private var refresh: [String: Refresh] = [:]
    private var access: [String: (person: String, endsAt: Int64)] = [:]
    private var lastFamily = 0

    /// Begins a family for somebody who has signed in.
    mutating func issue(
        to person: Auth0World.Person,
        _ settings: SandboxAuth0Settings,
        now: Int64,
        _ random: inout SplitMix64
    ) -> JSONValue {
        refresh.forget(over: Auth0World.capacity) { $0.replacedAt == nil }
        access.forget(over: Auth0World.capacity) { $0.endsAt > now }
        people.forget(over: Auth0World.capacity) { _ in false }
        newest.forget(over: Auth0World.capacity) { _ in false }
        lastFamily += 1
        people[lastFamily] = person.id
        return answer(family: lastFamily, person, settings, now: now, refresh: newToken(lastFamily, &random), &random)
    }

    /// Exchanges a refresh token.
    mutating func renew(
        _ token: String,
        _ people: [String: Auth0World.Person],
        _ settings: SandboxAuth0Settings,
        now: Int64,
        _ random: inout SplitMix64
    ) throws(Auth0Failure) -> JSONValue {
        guard let known = refresh[token], let id = self.people[known.family] else { throw .deadRefreshToken }
        guard let person = people[id] else {
            throw Auth0Failure(
                403,
                "invalid_grant",
                "The refresh_token was generated for a user who doesn't exist anymore."
            )
        }
        if let replacedAt = known.replacedAt {
            // Within the leeway the one before the newest is taken; any older one is always reuse.
            let isBefore = known.generation + 1 == newest[known.family]
            guard isBefore, now < replacedAt + settings.leeway else {
                end(known.family)
                throw .deadRefreshToken
            }
        }
        guard settings.rotates else {
            return answer(family: known.family, person, settings, now: now, refresh: nil, &random)
        }
        refresh[token]?.replacedAt = known.replacedAt ?? now
        let next = newToken(known.family, &random)
        return answer(family: known.family, person, settings, now: now, refresh: next, &random)
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
        for (family, owner) in people where owner == person { end(family) }
    }

    /// Whose an access token is; nil for one that is over.
    func subject(of token: String, now: Int64) -> String? {
        access[token].flatMap { $0.endsAt > now ? $0.person : nil }
    }

    private mutating func end(_ family: Int) {
        people[family] = nil
        newest[family] = nil
        refresh = refresh.filter { $0.value.family != family }
    }

    private mutating func newToken(_ family: Int, _ random: inout SplitMix64) -> String {
        let token = "v1." + random.letters(43)
        let generation = (newest[family] ?? 0) + 1
        newest[family] = generation
        refresh[token] = Refresh(family: family, generation: generation)
        return token
    }

    private mutating func answer(
        family: Int,
        _ person: Auth0World.Person,
        _ settings: SandboxAuth0Settings,
        now: Int64,
        refresh: String?,
        _ random: inout SplitMix64
    ) -> JSONValue {
        let token = random.letters(32)
        access[token] = (person.id, now + settings.accessLifetime)
        let claims: JSONValue = [
            "sub": .string(person.id), "email": .optional(person.user.emails.first), "iat": .int(now / 1000),
            "exp": .int(now / 1000 + 36_000), "aud": .string(settings.clientID),
        ]
        return .present([
            "access_token": .string(token),
            "refresh_token": refresh.map(JSONValue.string),
            "id_token": .string(OAuthJWT.make(type: "JWT", claims: claims, key: Array("auth0".utf8))),
            "scope": "openid profile email offline_access",
            "expires_in": .int(max(1, settings.accessLifetime / 1000)),
            "token_type": "Bearer",
        ])
    }
}
