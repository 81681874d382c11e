// The endpoints under `/_sandbox/oauth`.
extension SandboxWorld {
    /// One line for each endpoint.
    static let oauthControlIndex: [(String, JSONValue)] = [
        ("GET /_sandbox/oauth", "counters, clients, families of tokens, devices; fingerprints stand for the tokens"),
        (
            "POST /_sandbox/oauth/issue",
            """
            sign somebody in: {user, client?: "cli", scope?, expires_in?: seconds, acr?}; answered with {access_token, \
            refresh_token, token_type, expires_in, expires_at, scope, client_id, family}
            """
        ),
        (
            "POST /_sandbox/oauth/device",
            "decide about a device: {user_code?: else the newest that waits, decision?: approve|deny, user}"
        ),
        (
            "POST /_sandbox/oauth/revoke",
            """
            end tokens from afar: {family? or user? or client?, what?: all|access}; {} ends all; access leaves the \
            refresh tokens
            """
        ),
    ]

    /// Answers a request to `/_sandbox/oauth…`; nil for one to somewhere else.
    mutating func controlOAuth(
        _ name: String,
        _ request: SandboxRequest,
        now: Int64
    ) throws(SandboxError) -> JSONValue? {
        switch name {
        case "GET oauth": return oauth.view(now: now)
        case "POST oauth/issue": return try issueTokens(request, now: now)
        case "POST oauth/device": return try decideDevice(request, now: now)
        case "POST oauth/revoke": return try revokeTokens(request, now: now)
        default: return nil
        }
    }

    /// A request that stands for the sandbox itself.
    func oauthExchange(_ request: SandboxRequest, now: Int64) -> OAuthExchange {
        OAuthExchange(
            request,
            route: OAuthRoute(endpoint: .token, base: ""),
            now: now,
            settings: settings.oauth
        )
    }

    private mutating func issueTokens(_ request: SandboxRequest, now: Int64) throws(SandboxError) -> JSONValue {
        var reader = try ObjectReader(body(request), path: "body")
        guard let user = try reader.string("user") else { throw SandboxError(.invalidInput, "user is missing") }
        let client = try reader.string("client") ?? "cli"
        let scope = try reader.string("scope")
        let lifetime = try reader.seconds("expires_in")
        let acr = try reader.string("acr")
        try reader.finish()
        let tokens = try oauth.issue(
            user: user,
            client: client,
            scope: scope,
            acr: acr,
            lifetime: lifetime,
            exchange: oauthExchange(request, now: now)
        )
        return [
            "access_token": .string(tokens.accessToken),
            "refresh_token": .optional(tokens.refreshToken),
            "token_type": "Bearer",
            "expires_in": .int(max(1, (tokens.expiresAt - now) / 1000)),
            "expires_at": .string(HTTPDate.rfc3339(milliseconds: tokens.expiresAt)),
            "scope": .string(tokens.scope),
            "client_id": .string(client),
            "family": .string(tokens.family),
        ]
    }

    private mutating func decideDevice(_ request: SandboxRequest, now: Int64) throws(SandboxError) -> JSONValue {
        var reader = try ObjectReader(body(request), path: "body")
        let userCode = try reader.string("user_code")
        let decision = try reader.word("decision", of: ["approve", "deny"]) ?? "approve"
        let user = try reader.string("user")
        try reader.finish()
        if decision == "approve", user == nil { throw SandboxError(.invalidInput, "user is missing") }
        let decided = try oauth.decide(userCode: userCode, user: decision == "approve" ? user : nil, now: now)
        return ["user_code": .string(decided), "decision": .string(decision)]
    }

    private mutating func revokeTokens(_ request: SandboxRequest, now: Int64) throws(SandboxError) -> JSONValue {
        var reader = try ObjectReader(body(request), path: "body")
        let (family, user) = (try reader.string("family"), try reader.string("user"))
        let client = try reader.string("client")
        let what = try reader.word("what", of: ["all", "access"]) ?? "all"
        try reader.finish()
        let ended = try oauth.revoke(
            family: family,
            user: user,
            client: client,
            accessOnly: what == "access",
            now: now
        )
        return [
            "families_revoked": .int(Int64(ended.families)), "access_tokens_revoked": .int(Int64(ended.accessTokens)),
        ]
    }
}
