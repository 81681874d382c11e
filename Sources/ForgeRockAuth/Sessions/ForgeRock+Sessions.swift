public import AuthRecovery
import HTTPRecovery

extension ForgeRock {
    /// The stored session as the server sees it now, which does not extend its life; nil when there is none.
    ///
    /// A session that the server says is dead is removed from the store; tokens that were made with it stay, since they
    /// may outlive it.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked, or answers with something else; nothing is removed
    ///   then.
    public func session() async throws -> ForgeRockSession? {
        guard let token = try await api.tokens.read().credentials.ssoToken else { return nil }
        return try await api.information(on: token)
    }

    /// Extends the life of the session, as far as its longest life allows.
    ///
    /// - Returns: Whether there is a session still.
    public func extendSession() async throws -> Bool {
        guard let token = try await api.tokens.read().credentials.ssoToken else { return false }
        return try await api.client.looseOperation { operation in
            let api = api.within(operation)
            do {
                _ = try await api.session("refresh", version: "2.1", token: token)
                return true
            } catch let error as RecoveryError where error.provesSessionDead {
                try await api.forget(session: token, operation)
                return false
            }
        }
    }

    /// Renews what is held: the tokens by the refresh token or else by the session; without OAuth settings the session.
    ///
    /// - Returns: What is known of the session without asking: the end of its tokens.
    /// - Throws: `RecoveryError` when nothing came of it; of the kind `reauthentication_required` if a person has to
    ///   sign in. An outage clears nothing.
    @discardableResult
    public func refresh() async throws -> ForgeRockSession {
        if oauth != nil {
            _ = try await api.client.operation { try await tokens.renew($0.context) }
        } else if try await !extendSession() {
            throw RecoveryError.signedOut
        }
        var session = ForgeRockSession(information: .null)
        session.expiresAt = try await api.tokens.read().credentials.expiresAt
        return session
    }

    /// Signs out: revokes the tokens, ends the session, and forgets them.
    ///
    /// A session that is gone already counts as ended.
    ///
    /// - Throws: `RecoveryError` when the server could not be told; the store then still holds what could not be ended,
    ///   so that signing out can be tried again.
    @discardableResult
    public func signOut() async throws -> SignOutResult {
        try await api.client.looseOperation { try await within($0).signOut(by: $0) }
        return .ended
    }

    private func signOut(by operation: RecoveryOperation) async throws {
        let held = try await api.tokens.read().credentials
        if let oauth = oauth?.within(operation), let token = held.refreshToken ?? held.accessToken {
            try await oauth.revoke(token, kind: held.refreshToken == nil ? .access : .refresh)
        }
        if held.refreshToken != nil || held.accessToken != nil {
            try await api.tokens.update { credentials in
                if credentials.refreshToken == held.refreshToken { credentials.remove(.refresh) }
                if credentials.accessToken == held.accessToken { credentials.remove(.access) }
            }
        }
        guard let token = held.ssoToken else { return }
        do {
            _ = try await api.session("logout", version: "3.1", token: token)
        } catch let error as RecoveryError where error.provesSessionDead {
            // It is gone already, which is what was wanted.
        }
        try await api.forget(session: token, operation)
    }

    /// The tokens, renewed if that is needed.
    ///
    /// - Throws: `RecoveryError` of the kind `reauthentication_required` if there are none and none can be had; the
    ///   failure of the renewal if that is what went wrong.
    public func accessToken() async throws -> Secret {
        let held = try await api.tokens.read().credentials
        let present = try await api.client.operation { operation in
            held.accessToken?.isEmpty == false
                ? try await tokens.credentials(for: operation.context)
                : try await tokens.renew(operation.context)
        }
        guard let token = present.credentials.accessToken else { throw RecoveryError.signedOut }
        return token
    }
}
