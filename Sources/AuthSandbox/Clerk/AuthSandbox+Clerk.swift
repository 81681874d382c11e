extension AuthSandbox {
    /// The code that a person's authenticator shows now.
    ///
    /// - Parameter user: An identifier or an id.
    /// - Returns: Six digits; nil for somebody without an authenticator.
    public func totp(for user: String) -> String? {
        withWorld { world in
            world.clerk.account(named: user).flatMap { world.clerk.currentTOTP($0, world.context) }
        }
    }

    /// Ends sessions from afar, as an administrator would.
    ///
    /// - Parameters:
    ///   - user: Only those of this person; nil for everybody's.
    ///   - status: What becomes of them: `revoked`, `expired`, `ended`, `removed`, `replaced` or `abandoned`.
    /// - Returns: The ids of the sessions that ended.
    @discardableResult
    public func endSessions(of user: String? = nil, as status: String = "revoked") -> [String] {
        withWorld { $0.clerk.endSessions(.init(user: user, status: status), now: $0.context.now) }
    }
}
