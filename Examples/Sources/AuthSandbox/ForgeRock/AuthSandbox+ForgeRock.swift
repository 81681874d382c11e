extension AuthSandbox {
    /// Signs somebody in at PingAM, for a test that begins with a session.
    ///
    /// - Parameters:
    ///   - user: A name or an identifier, such as an e-mail address.
    ///   - realm: The realm's path.
    /// - Returns: The session's token, which is the value of its cookie.
    /// - Throws: ``SandboxError`` for a person or a realm that is not known.
    public func forgeRockSession(for user: String, realm: String = "/alpha") throws(SandboxError) -> String {
        try withWorld { world, now throws(SandboxError) in
            try world.forgerock.issueSession(for: user, realm: realm, settings: world.settings.forgerock, now: now)
        }
    }

    /// Ends sessions of PingAM from afar.
    ///
    /// - Parameter user: Only those of this person; nil for everybody's.
    /// - Returns: How many have ended.
    @discardableResult
    public func endForgeRockSessions(of user: String? = nil) -> Int {
        withWorld { world, _ in world.forgerock.endSessions(of: user) }
    }

    /// Ends tokens of PingAM's OAuth 2 side from afar.
    ///
    /// - Parameter accessOnly: Access tokens alone, so that a refresh still works. Default: refresh tokens too.
    /// - Throws: Nothing in practice: everybody's tokens end.
    public func revokeForgeRockTokens(accessOnly: Bool = false) throws(SandboxError) {
        try withWorld { world, now throws(SandboxError) in
            _ = try world.forgerock.oauth.revoke(
                family: nil,
                user: nil,
                client: nil,
                accessOnly: accessOnly,
                now: now
            )
        }
    }

    /// Unlocks an account of PingAM.
    ///
    /// - Parameter user: A name or an identifier.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func unlockForgeRockAccount(of user: String) throws(SandboxError) {
        try withWorld { world, now throws(SandboxError) in try world.forgerock.lock(user, for: 0, now: now) }
    }

    /// What has happened at PingAM.
    public var forgeRockCounters: SandboxForgeRockCounters {
        withWorld { world, _ in world.forgerock.counters }
    }

    /// What has happened with the refresh tokens of PingAM's OAuth 2 side.
    public var forgeRockTokenCounters: SandboxOAuthCounters {
        withWorld { world, _ in world.forgerock.oauth.counters }
    }
}
