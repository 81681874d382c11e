extension AuthSandbox {
    /// Lets somebody try to sign in at Auth0 again.
    ///
    /// - Parameter user: An identifier, such as an e-mail address.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func unblockAtAuth0(_ user: String) throws(SandboxError) {
        try with(Auth0World.self) { world, _ throws(SandboxError) in _ = try world.unblock(user) }
    }

    /// Answers the newest push that Auth0 has sent.
    ///
    /// - Parameters:
    ///   - user: Whose; nil for anybody's.
    ///   - approving: Whether the person says yes.
    /// - Throws: ``SandboxError`` when no push waits.
    public func answerAuth0Push(of user: String? = nil, approving: Bool = true) throws(SandboxError) {
        let decision = Auth0World.PushDecision(user: user, decision: approving ? "approve" : "deny")
        try with(Auth0World.self) { world, context throws(SandboxError) in
            try world.decide(decision, now: context.now)
        }
    }

    /// Answers a device login at Auth0.
    ///
    /// - Parameters:
    ///   - user: Who answers.
    ///   - userCode: What they enter; nil for the newest login that waits.
    ///   - approving: Whether the person says yes.
    /// - Throws: ``SandboxError`` when no login waits, or for a person who is not known.
    public func answerAuth0Device(
        as user: String,
        userCode: String? = nil,
        approving: Bool = true
    ) throws(SandboxError) {
        let decision = Auth0World.DeviceDecision(
            user: user,
            userCode: userCode,
            decision: approving ? "approve" : "deny"
        )
        try with(Auth0World.self) { world, context throws(SandboxError) in
            _ = try world.decide(decision, now: context.now)
        }
    }

    /// Ends somebody's tokens at Auth0 from afar.
    ///
    /// - Parameters:
    ///   - user: An identifier, such as an e-mail address.
    ///   - accessOnly: Access tokens alone, so that a refresh still works. Default: refresh tokens too.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func endAuth0Tokens(of user: String, accessOnly: Bool = false) throws(SandboxError) {
        try with(Auth0World.self) { world, _ throws(SandboxError) in
            guard let person = world.person(named: user) else {
                throw SandboxError(.invalidInput, "no such user: \(user)")
            }
            world.tokens.end(person: person.id, accessOnly: accessOnly)
        }
    }

    /// Deletes an account at Auth0; its tokens are found out to be of nobody when they are used.
    ///
    /// - Parameter user: An identifier, such as an e-mail address.
    /// - Throws: ``SandboxError`` for a person who is not known.
    public func deleteAtAuth0(_ user: String) throws(SandboxError) {
        try with(Auth0World.self) { world, _ throws(SandboxError) in try world.delete(user) }
    }

    /// How often each thing was presented to Auth0 that can be spent, such as `otp 1a2b…`: its sort and a fingerprint.
    public var auth0Presentations: [String: Int64] { world(Auth0World.self).spent }

    /// How often each grant was asked for at Auth0, such as `mfa-otp`.
    public var auth0Grants: [String: Int64] { world(Auth0World.self).counters }
}
