extension AuthSandbox {
    /// How many pushes were sent to somebody's phone by Okta.
    ///
    /// - Parameter user: An identifier or an id; nil for everybody's.
    public func oktaPushes(of user: String? = nil) -> Int {
        withWorld { world in
            guard let user else { return Int(world.okta.counters.pushes) }
            return Int(world.okta.account(named: user)?.pushesSent ?? 0)
        }
    }

    /// The code that a person's authenticator shows now for Okta, also while it is being set up.
    ///
    /// - Parameter user: An identifier or an id.
    /// - Returns: Six digits; nil for somebody without an authenticator.
    public func oktaTOTP(for user: String) -> String? {
        withWorld { world in
            world.okta.account(named: user).flatMap {
                world.okta.currentTOTP($0, settings: world.settings, now: world.context.now)
            }
        }
    }

    /// Answers the pushes of somebody who is being waited for.
    ///
    /// - Parameters:
    ///   - user: An identifier or an id.
    ///   - result: `SUCCESS`, `REJECTED`, `TIMEOUT` or any other word.
    /// - Returns: How many were answered.
    @discardableResult
    public func answerPush(of user: String, _ result: String = "SUCCESS") -> Int {
        withWorld { world in
            world.okta.account(named: user).map { world.okta.decide($0.id, as: result) } ?? 0
        }
    }

    /// Ends sessions of Okta's from afar.
    ///
    /// - Parameter user: Only those of this person; nil for everybody's.
    /// - Returns: How many have ended.
    @discardableResult
    public func endOktaSessions(of user: String? = nil) -> Int {
        endOkta(sessions: true, of: user)
    }

    /// Ends transactions of Okta's from afar: their state tokens are dead then.
    ///
    /// - Parameter user: Only those of this person; nil for everybody's.
    /// - Returns: How many have ended.
    @discardableResult
    public func endOktaTransactions(of user: String? = nil) -> Int {
        endOkta(sessions: false, of: user)
    }

    private func endOkta(sessions: Bool, of user: String?) -> Int {
        withWorld { world in
            guard let user else { return world.okta.end(sessions: sessions, of: nil) }
            return world.okta.account(named: user).map { world.okta.end(sessions: sessions, of: $0.id) } ?? 0
        }
    }
}
