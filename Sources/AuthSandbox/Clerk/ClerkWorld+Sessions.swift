import HTTPRecovery

extension ClerkWorld {
    /// The session in the path, which has to be the client's own.
    private func ownSession(_ exchange: ClerkExchange) throws(ClerkFailure) -> ClerkSession {
        guard let client = exchange.client else { throw .signedOut }
        guard let session = sessions[exchange.id], session.client == client else { throw .notFound("session") }
        return session
    }

    func liveSession(
        _ exchange: ClerkExchange,
        _ settings: SandboxSettings
    ) throws(ClerkFailure) -> ClerkSession {
        let session = try ownSession(exchange)
        guard session.isLive else { throw ended(session, settings) }
        return session
    }

    /// How a session that is over is refused.
    private func ended(_ session: ClerkSession, _ settings: SandboxSettings) -> ClerkFailure {
        switch session.endedCode ?? settings.endedSessionCode {
        case "resource_not_found": .notFound("session")
        case "signed_out": .signedOut
        case "session_status":
            ClerkFailure(
                401,
                "session_\(session.status)",
                "Session \(session.status)",
                long: "The session is no longer active: it is \(session.status)."
            )
        default: .authenticationInvalid
        }
    }

    mutating func sessionToken(
        _ exchange: ClerkExchange,
        template: String?,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(exchange, context.settings)
        if let organization = exchange.field("organization_id"), !organization.isEmpty {
            throw .notFound("organization")
        }
        if context.settings.requiresTokenSeed {
            let seed = exchange.request.queryItem("expired_token") ?? exchange.field("token")
            let claims = seed.flatMap { self.claims(of: $0) }
            guard claims?["sid"]?.string == session.id else {
                throw ClerkFailure(
                    422,
                    "missing_expired_token",
                    "Missing expired token",
                    long: "The last session token has to be sent as expired_token."
                )
            }
        }
        sessions[session.id]?.lastActiveAt = context.now
        let jwt = mintToken(session.id, template: template, context: &context)
        return ["object": "token", "jwt": .string(jwt)]
    }

    mutating func touch(_ exchange: ClerkExchange, context: inout SandboxContext) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(exchange, context.settings)
        let intent = exchange.field("intent")
        if let intent, !["", "focus", "select_session", "select_org"].contains(intent) {
            throw .invalidValue("intent", intent)
        }
        if let organization = exchange.field("active_organization_id"), !organization.isEmpty {
            throw .notFound("organization")
        }
        sessions[session.id]?.lastActiveAt = context.now
        sessions[session.id]?.updatedAt = context.now
        clients[session.client]?.lastActiveSession = session.id
        mintToken(session.id, template: nil, context: &context)
        return wrapped(sessionView(session.id), intent == "focus" ? nil : session.client)
    }

    mutating func end(
        _ exchange: ClerkExchange,
        as status: String,
        context: SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(exchange, context.settings)
        finish(session.id, as: status, now: context.now)
        return wrapped(sessionView(session.id), session.client)
    }

    mutating func endAllSessions(
        _ exchange: ClerkExchange,
        context: SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        guard let id = exchange.client else { throw .signedOut }
        for session in clients[id]?.sessions ?? [] { finish(session, as: "removed", now: context.now) }
        return ["response": clientView(id), "client": .null]
    }

    // MARK: The signed-in person

    /// The session that a request to `/me` speaks for: that of its session token, or one of its client.
    mutating func speakingSession(
        _ exchange: ClerkExchange,
        context: SandboxContext
    ) throws(ClerkFailure) -> ClerkSession {
        if let token = ClerkExchange.bearer(exchange.request), let claims = claims(of: token),
            let id = claims["sid"]?.string
        {
            if let client = sessions[id]?.client { settle(client: client, now: context.now) }
            guard let expires = claims["exp"]?.int, expires * 1000 > context.now, let session = sessions[id] else {
                throw .authenticationInvalid
            }
            guard session.isLive else { throw ended(session, context.settings) }
            return session
        }
        guard let client = exchange.client else { throw .signedOut }
        let wanted = exchange.request.queryItem("_clerk_session_id") ?? clients[client]?.lastActiveSession
        guard let wanted, let session = sessions[wanted], session.client == client else {
            throw .authenticationInvalid
        }
        guard session.isLive else { throw ended(session, context.settings) }
        return session
    }

    mutating func me(_ exchange: ClerkExchange, context: SandboxContext) throws(ClerkFailure) -> JSONValue {
        let session = try speakingSession(exchange, context: context)
        return wrapped(userView(session.account), exchange.client)
    }

    mutating func revokeOwnSession(
        _ exchange: ClerkExchange,
        context: SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let session = try speakingSession(exchange, context: context)
        guard let target = sessions[exchange.id], target.account == session.account else { throw .notFound("session") }
        finish(target.id, as: "revoked", now: context.now)
        return wrapped(sessionView(target.id), exchange.client)
    }

    // MARK: Tokens

    /// Makes a session's JWT and remembers it as the last one.
    @discardableResult
    mutating func mintToken(_ id: String, template: String?, context: inout SandboxContext) -> String {
        guard let session = sessions[id] else { return "" }
        let now = context.now
        let life = context.settings.sessionTokenLife
        var claims: JSONValue = [
            "exp": .int((now + life) / 1000),
            "fva": .array([Self.age(session.firstFactorAt, now), Self.age(session.secondFactorAt, now)]),
            "iat": .int(now / 1000),
            "iss": "https://sandbox.invalid",
            "jti": .string(context.random.letters(20).lowercased()),
            "nbf": .int(now / 1000 - 10),
            "sid": .string(id),
            "sts": .string(session.status),
            "sub": .string(session.account),
            "v": 2,
        ]
        if let template { claims = claims.adding("template", .string(String(template.prefix(100)))) }
        let token = jwt(claims)
        if template == nil {
            sessions[id]?.lastToken = token
            sessions[id]?.lastTokenExpires = now + life
        }
        return token
    }

    /// Minutes since a factor was proved; -1 for never.
    static func age(_ moment: Int64?, _ now: Int64) -> JSONValue {
        moment.map { .int(max(0, (now - $0) / 60_000)) } ?? .int(-1)
    }

    /// A JWT with these claims, signed with the sandbox's own key.
    func jwt(_ claims: JSONValue) -> String {
        let header: JSONValue = ["alg": "HS256", "kid": .string(instance), "typ": "JWT"]
        let content =
            Base64.encodeForURL(Array(header.text.utf8)) + "." + Base64.encodeForURL(Array(claims.text.utf8))
        return content + "." + Base64.encodeForURL(HMAC.sha256(Array(content.utf8), key: signingKey))
    }

    /// The claims of a JWT that this sandbox has made, however old.
    func claims(of token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count < 8192 else { return nil }
        let content = "\(parts[0]).\(parts[1])"
        guard Base64.encodeForURL(HMAC.sha256(Array(content.utf8), key: signingKey)) == parts[2] else { return nil }
        return Base64.decode(parts[1].utf8).flatMap { try? JSONValue(parsing: $0) }
    }
}
