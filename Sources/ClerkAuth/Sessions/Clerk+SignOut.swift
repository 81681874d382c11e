public import AuthRecovery
import HTTPRecovery

extension Clerk {
    /// Signs out: ends the session that the store names, as ``signOut(sessionID:)`` does.
    @discardableResult
    public func signOut() async throws -> SignOutResult {
        guard let id = try await api.tokens.read().credentials.sessionID else { return .ended }
        return try await signOut(sessionID: id)
    }

    /// Signs out: ends one session, or all of the client.
    ///
    /// The store forgets the session once the server has ended it, or says that it is gone already. If there is no
    /// network the store forgets it all the same, and remembers that the server is still to be told. The client token
    /// stays: it tells Clerk that this device is known.
    ///
    /// - Parameter sessionID: The session to end; nil ends all sessions of the client.
    /// - Returns: Whether the server knows.
    /// - Throws: `RecoveryError` when the server could be reached and would not end it; the store then still names the
    ///   session, so that signing out can be tried again. `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func signOut(sessionID: String?) async throws -> SignOutResult {
        try await api.client.looseOperation { try await within($0).signOut(sessionID: sessionID, by: $0) }
    }

    /// Gives up this client: ends all its sessions, and forgets its token and whatever hangs on it.
    ///
    /// It is also the way out with a client token that Clerk refuses and does not replace. The next sign-in is one of a new
    /// device, which Clerk may want to have confirmed.
    ///
    /// - Throws: `RecoveryError` when the server could not be told, and everything is still held then. `CancellationError` as
    ///   soon as the task is cancelled.
    public func forgetDevice() async throws {
        try await api.client.looseOperation { operation in
            let api = api.within(operation)
            if try await api.tokens.read().credentials.clientToken != nil { try await api.endClient() }
            try await api.tokens.update { credentials in
                credentials.remove(.client)
                credentials.sessionID = nil
                PendingSignOuts.write([], to: &credentials)
                AccountNames.clear(&credentials)
            }
            api.sessionTokens.drop(session: nil)
            operation.emit(.clear(.client))
        }
    }

    private func signOut(sessionID: String?, by operation: RecoveryOperation) async throws -> SignOutResult {
        let stored = try await api.tokens.read().credentials
        var result = SignOutResult.ended
        // Without a client token there is nothing that the server could end.
        if stored.clientToken != nil {
            do {
                try await api.end(session: sessionID)
                try await api.forget(signOut: sessionID)
            } catch let error as RecoveryError where error.kind == .transport || error.kind == .timedOut {
                try await api.remember(signOut: sessionID ?? PendingSignOuts.all)
                result = .endedHere(error)
            }
        }
        api.sessionTokens.drop(session: sessionID)
        guard let held = stored.sessionID, sessionID == nil || sessionID == held else { return result }
        try await api.forget(session: held, operation.context)
        return result
    }
}
