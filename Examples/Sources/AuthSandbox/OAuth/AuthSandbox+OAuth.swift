extension AuthSandbox {
    /// Signs somebody in at the OAuth provider, for a test that begins with tokens.
    ///
    /// - Parameters:
    ///   - user: An identifier, such as an e-mail address.
    ///   - client: A client's id. Default: the public client of the default scenario.
    ///   - scope: Scopes, separated by spaces; nil for the default ones.
    ///   - lifetime: The life of the access token; nil for that of the settings.
    /// - Returns: The tokens.
    /// - Throws: ``SandboxError`` for a person or a client that is not known, or a scope that the client may not have.
    public func issueTokens(
        for user: String,
        client: String = "cli",
        scope: String? = nil,
        lifetime: Duration? = nil
    ) throws(SandboxError) -> SandboxOAuthTokens {
        let request = SandboxRequest(method: "POST", target: "/", headers: [.init(name: "host", value: authority)])
        return try withWorld { world, now throws(SandboxError) in
            try world.oauth.issue(
                user: user,
                client: client,
                scope: scope,
                acr: nil,
                lifetime: lifetime.map(Self.milliseconds),
                exchange: world.oauthExchange(request, now: now)
            )
        }
    }

    /// Approves a device that waits.
    ///
    /// - Parameters:
    ///   - userCode: The code that it shows; nil for the newest that waits.
    ///   - user: Who signs in on it.
    /// - Throws: ``SandboxError`` when there is no such device or person.
    public func approveDevice(_ userCode: String? = nil, as user: String) throws(SandboxError) {
        _ = try withWorld { world, now throws(SandboxError) in
            try world.oauth.decide(userCode: userCode, user: user, now: now)
        }
    }

    /// Refuses a device that waits.
    ///
    /// - Parameter userCode: The code that it shows; nil for the newest that waits.
    /// - Throws: ``SandboxError`` when there is no such device.
    public func denyDevice(_ userCode: String? = nil) throws(SandboxError) {
        _ = try withWorld { world, now throws(SandboxError) in
            try world.oauth.decide(userCode: userCode, user: nil, now: now)
        }
    }

    /// Ends OAuth tokens from afar.
    ///
    /// - Parameters:
    ///   - user: Only those of this person; nil for everybody's.
    ///   - accessOnly: Access tokens alone, so that a refresh still works. Default: refresh tokens too.
    /// - Returns: How many families of tokens and how many live access tokens were ended.
    /// - Throws: ``SandboxError`` for a person who is not known.
    @discardableResult
    public func revokeTokens(
        of user: String? = nil,
        accessOnly: Bool = false
    ) throws(SandboxError) -> (families: Int, accessTokens: Int) {
        try withWorld { world, now throws(SandboxError) in
            try world.oauth.revoke(family: nil, user: user, client: nil, accessOnly: accessOnly, now: now)
        }
    }

    /// What has happened with refresh tokens.
    ///
    /// - Parameter client: Of this client alone; nil for all.
    /// - Returns: The counters; all zero for a client that is not known.
    public func oauthCounters(of client: String? = nil) -> SandboxOAuthCounters {
        withWorld { world, _ in
            client.map { world.oauth.clientCounters[$0] ?? SandboxOAuthCounters() } ?? world.oauth.counters
        }
    }

    private var authority: String { String(url.dropFirst("http://".count)) }

    static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return min(max(seconds, 0), 3_155_760_000) * 1000 + max(0, attoseconds / 1_000_000_000_000_000)
    }
}
