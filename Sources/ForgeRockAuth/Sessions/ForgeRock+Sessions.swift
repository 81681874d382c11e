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
    /// With an ID token the session is ended by OpenID Connect too (`connect/endSession`), which tells the other clients.
    /// A session that is gone already counts as ended.
    ///
    /// - Throws: `RecoveryError` when the server could not be told; the store then still holds what could not be ended,
    ///   so that signing out can be tried again.
    @discardableResult
    public func signOut() async throws -> SignOutResult {
        try await api.client.looseOperation { try await within($0).signOut(by: $0) }
        return .ended
    }

    /// The URL by which a browser ends the session that the tokens were made for, and comes back.
    ///
    /// It holds the ID token: it is for that browser alone.
    ///
    /// - Parameters:
    ///   - redirectURI: Where the browser goes afterwards: an absolute URL that is registered for the client; nil leaves it at
    ///     the server.
    ///   - state: What comes back with it.
    /// - Returns: Nil without an ID token: without OAuth settings, or if their scope has no `openid`.
    public func endSessionURL(redirectURI: String? = nil, state: Secret? = nil) async throws -> Secret? {
        guard let oauth, let idToken = try await api.tokens.read().credentials.idToken else { return nil }
        let path = oauth.endSessionPath(idToken, redirectURI: redirectURI, state: state)
        return Secret(api.server.origin.description + path)
    }

    private func signOut(by operation: RecoveryOperation) async throws {
        let held = try await api.tokens.read().credentials
        var refusal: RecoveryError?
        if let oauth = oauth?.within(operation), let token = held.refreshToken ?? held.accessToken {
            do {
                try await oauth.revoke(token, kind: held.refreshToken == nil ? .access : .refresh)
            } catch let error as RecoveryError where error.kind == .misconfigured && held.ssoToken != nil {
                // That a client is set up wrongly is no reason to leave the person signed in.
                refusal = error
            }
        }
        if refusal == nil, held.refreshToken != nil || held.accessToken != nil {
            try await api.tokens.update { credentials in
                if credentials.refreshToken == held.refreshToken { credentials.remove(.refresh) }
                if credentials.accessToken == held.accessToken { credentials.remove(.access) }
            }
        }
        if let idToken = held.idToken { try await end(idToken, isAlone: held.ssoToken == nil, operation) }
        guard let token = held.ssoToken else { return }
        do {
            _ = try await api.session("logout", version: "3.1", token: token)
        } catch let error as RecoveryError where error.provesSessionDead {
            // It is gone already, which is what was wanted.
        }
        try await api.forget(session: token, operation)
        if let refusal { throw refusal }
    }

    /// Ends the session of an ID token, and forgets the token.
    ///
    /// - Parameter isAlone: Whether nothing else can end it, so that an outage leaves it to another try. What the server refuses
    ///   is of no use in any case: it fails on a hint that it cannot read.
    private func end(_ idToken: Secret, isAlone: Bool, _ operation: RecoveryOperation) async throws {
        if let oauth = oauth?.within(operation) {
            do {
                try await (isAlone ? oauth : oauth.waiting(atMost: .zero)).endSession(idToken)
            } catch let error as RecoveryError {
                try Task.checkCancellation()
                let isOpen = [.transport, .timedOut, .unavailable, .rateLimited].contains(error.kind)
                if isAlone, isOpen, error.outcome.code != "server_error" { throw error }
            }
        }
        try await api.tokens.update { credentials in
            if credentials.idToken == idToken { credentials.idToken = nil }
        }
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
