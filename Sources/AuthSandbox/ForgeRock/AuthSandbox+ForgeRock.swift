extension AuthSandbox {
    /// Signs somebody in at PingAM, for a test that begins with a session.
    ///
    /// - Parameters:
    ///   - user: A name or an identifier, such as an e-mail address.
    ///   - realm: The realm's path.
    /// - Returns: The session's token, which is the value of its cookie.
    /// - Throws: ``SandboxError`` for a person or a realm that is not known.
    public func forgeRockSession(for user: String, realm: String = "/alpha") throws(SandboxError) -> String {
        try with(ForgeRockWorld.self) { world, context throws(SandboxError) in
            try world.issueSession(for: user, realm: realm, settings: context.settings.forgerock, now: context.now)
        }
    }

    /// Ends sessions of PingAM from afar.
    ///
    /// - Parameter user: Only those of this person; nil for everybody's.
    /// - Returns: How many have ended.
    @discardableResult
    public func endForgeRockSessions(of user: String? = nil) -> Int {
        withWorld { $0.forgerock.endSessions(of: user) }
    }

    /// Ends tokens of PingAM's OAuth 2 side from afar.
    ///
    /// - Parameter accessOnly: Access tokens alone, so that a refresh still works. Default: refresh tokens too.
    /// - Throws: Nothing in practice: everybody's tokens end.
    public func revokeForgeRockTokens(accessOnly: Bool = false) throws(SandboxError) {
        try with(ForgeRockWorld.self) { world, context throws(SandboxError) in
            _ = try world.oauth.revoke(.init(what: accessOnly ? "access" : "all"), now: context.now)
        }
    }

    /// Unlocks an account of PingAM.
    ///
    /// - Parameter user: A name or an identifier.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func unlockForgeRockAccount(of user: String) throws(SandboxError) {
        try with(ForgeRockWorld.self) { world, _ throws(SandboxError) in try world.set(.open, of: user) }
    }

    /// Decides about the pushes of PingAM that wait, as a person does on their phone.
    ///
    /// - Parameters:
    ///   - isApproved: Whether they confirm or refuse.
    ///   - user: A name or an identifier; nil for everybody's.
    /// - Returns: How many have waited.
    /// - Throws: ``SandboxError`` for a person who is not known, and if no push waits.
    @discardableResult
    public func answerForgeRockPush(_ isApproved: Bool, of user: String? = nil) throws(SandboxError) -> Int {
        try with(ForgeRockWorld.self) { world, context throws(SandboxError) in
            try world.decide(isApproved, for: user, now: context.now)
        }
    }

    /// What has happened at PingAM.
    public var forgeRockCounters: SandboxForgeRockCounters {
        world(ForgeRockWorld.self).counters
    }

    /// What has happened with the refresh tokens of PingAM's OAuth 2 side.
    public var forgeRockTokenCounters: SandboxOAuthCounters {
        world(ForgeRockWorld.self).oauth.counters
    }
}
