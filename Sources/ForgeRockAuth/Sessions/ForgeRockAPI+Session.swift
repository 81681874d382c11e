import AuthRecovery
import HTTPRecovery

extension ForgeRockAPI {
    /// Stores a session before anyone uses it.
    ///
    /// The tokens that were made for another session go with it, since they may be another person's; a stronger session
    /// of the same person leaves them.
    ///
    /// - Returns: What was replaced and is of no use any more; nil if nothing was.
    func keep(_ token: Secret, upgrades: Bool) async throws -> Credentials? {
        let replaced = Locked<Credentials?>(nil)
        try await tokens.update { credentials in
            let isNew = !upgrades && credentials.ssoToken != token
            let held = credentials
            replaced.withLock { $0 = isNew ? held : nil }
            if isNew {
                credentials.remove(.session)
                credentials.remove(.refresh)
                credentials.idToken = nil
            }
            credentials.ssoToken = token
        }
        return replaced.withLock { $0 }
    }

    /// The id of the person whose session it is.
    ///
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if the session is over.
    func holder(of token: Secret) async throws -> String {
        guard let session = try await information(on: token) else { throw RecoveryError.signedOut }
        // A name alone is one within its realm. The directory does not tell capitals from small letters.
        let id = session.universalID ?? session.username.map { "\($0)@\(session.realm ?? "")" }
        guard let id else { throw RecoveryError(outcome: Outcome(.unreadable), reason: .notRecoverable) }
        return id.lowercased()
    }

    /// Checks that a session that was made stronger is still the same person's; another is ended, and not kept.
    ///
    /// - Throws: `RecoveryError` of the reason `identity_changed`; also if nobody can tell whose it is.
    func check(_ token: Secret, isOf holder: String?) async throws {
        // The session that is held is nobody else's.
        if try await tokens.read().credentials.ssoToken == token { return }
        do {
            guard let holder, try await self.holder(of: token) == holder else {
                throw RecoveryError(
                    outcome: Outcome(.stateConflict, processed: .yes, remedies: [.restartFlow]),
                    reason: .identityChanged
                )
            }
        } catch {
            _ = try? await waiting(atMost: .zero).session("logout", version: "3.1", token: token)
            throw error
        }
    }

    /// Removes a session from the store, if it is still that one; other credentials stay.
    ///
    /// - Returns: Whether it was removed.
    private func remove(session token: Secret) async throws -> Bool {
        guard try await tokens.read().credentials.ssoToken == token else { return false }
        try await tokens.update { credentials in
            if credentials.ssoToken == token { credentials.ssoToken = nil }
        }
        return true
    }

    /// Removes a session from the store, and tells of it as of what the operation has done.
    func forget(session token: Secret, _ operation: RecoveryOperation) async throws {
        if try await remove(session: token) { operation.emit(.clear(.session)) }
    }

    /// What is done if the session is refused; nothing renews it, so nothing is replayed.
    func settling(_ token: Secret) -> SessionRenewal {
        SessionRenewal(
            named: "settle_session",
            where: { $0.credential == .session },
            // A session that is over is over, whatever becomes of the request.
            needsReplay: false,
            settling: { try await settle(token, after: $0, $1) }
        )
    }

    /// Removes a session that was refused and is over, and concludes that a person has to sign in.
    ///
    /// If the refusal does not say so, the server is asked; a refusal that has another reason stays what it is.
    func settle(_ token: Secret, after outcome: Outcome, _ context: CallContext) async throws
        -> FailureContext.RemediationResult
    {
        var conclusion = outcome
        if outcome.tokenAction == .clear {
            if try await remove(session: token) { context.emit(.clear(.session)) }
        } else if try await context.work({ try await within($0).mayLive(token) }) {
            return .failed(outcome, reason: .notRecoverable)
        }
        conclusion.tokenAction = .clear
        return .reauthenticationRequired(after: conclusion)
    }

    /// Whether a session may be alive, as far as the server can be asked; one that is over is removed from the store.
    private func mayLive(_ token: Secret) async throws -> Bool {
        do {
            return try await information(on: token) != nil
        } catch is RecoveryError {
            try Task.checkCancellation()
            return true
        }
    }

    /// A call about the session itself.
    func session(_ action: String, version: String, token: Secret) async throws -> RecoveredResponse {
        try await send(
            Call(
                path: "\(server.json("sessions"))?_action=\(action)",
                version: version,
                json: .object([]),
                action: action == "logout" ? .logout : nil,
                presents: .session,
                session: token,
                // Asking twice, or ending it twice, does what doing it once does.
                resend: .replayable
            )
        )
    }

    /// The session as the server sees it, which does not extend its life; nil if it is dead.
    ///
    /// - Throws: `RecoveryError` also if it is refused under an assumed name of its cookie, which proves nothing.
    func information(on token: Secret) async throws -> ForgeRockSession? {
        try await client.looseOperation { operation in
            let api = within(operation)
            do {
                let response = try await api.session("getSessionInfo", version: "2.1", token: token)
                let json = try await response.json()
                guard case .object = json, json["realm"] != nil || json["username"] != nil || json["universalId"] != nil
                else { throw RecoveryError(.unreadable, in: response) }
                return ForgeRockSession(information: json)
            } catch let error as RecoveryError where error.provesSessionDead {
                try await forget(session: token, operation)
                return nil
            }
        }
    }
}

extension RecoveryError {
    /// Whether the server has refused the session, perhaps for another reason than its death.
    var refusesSession: Bool {
        kind == .credentialRejected && outcome.credential == .session
    }

    /// Whether the session is dead by the server's own word.
    var provesSessionDead: Bool {
        refusesSession && outcome.tokenAction == .clear
    }
}
