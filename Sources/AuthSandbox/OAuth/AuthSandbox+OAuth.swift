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
        let life = lifetime.map { Seconds($0) }
        let order = OAuthWorld.IssueOrder(user: user, client: client, scope: scope, lifetime: life)
        return try with(OAuthWorld.self) { world, context throws(SandboxError) in
            try world.issue(order, context: context)
        }
    }

    /// Approves a device that waits.
    ///
    /// - Parameters:
    ///   - userCode: The code that it shows; nil for the newest that waits.
    ///   - user: Who signs in on it.
    /// - Throws: ``SandboxError`` when there is no such device or person.
    public func approveDevice(_ userCode: String? = nil, as user: String) throws(SandboxError) {
        try decide(OAuthWorld.DeviceDecision(userCode: userCode, user: user))
    }

    /// Refuses a device that waits.
    ///
    /// - Parameter userCode: The code that it shows; nil for the newest that waits.
    /// - Throws: ``SandboxError`` when there is no such device.
    public func denyDevice(_ userCode: String? = nil) throws(SandboxError) {
        try decide(OAuthWorld.DeviceDecision(userCode: userCode, decision: "deny"))
    }

    private func decide(_ decision: OAuthWorld.DeviceDecision) throws(SandboxError) {
        try with(OAuthWorld.self) { world, context throws(SandboxError) in
            _ = try world.decide(decision, now: context.now)
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
        let order = OAuthWorld.RevokeOrder(user: user, what: accessOnly ? "access" : "all")
        return try with(OAuthWorld.self) { world, context throws(SandboxError) in
            try world.revoke(order, now: context.now)
        }
    }

    /// What has happened with refresh tokens.
    ///
    /// - Parameter client: Of this client alone; nil for all.
    /// - Returns: The counters; all zero for a client that is not known.
    public func oauthCounters(of client: String? = nil) -> SandboxOAuthCounters {
        let world = world(OAuthWorld.self)
        return client.map { world.clientCounters[$0] ?? SandboxOAuthCounters() } ?? world.counters
    }
}
