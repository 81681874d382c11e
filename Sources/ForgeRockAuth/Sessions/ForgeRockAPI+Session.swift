import AuthRecovery
import HTTPRecovery

extension ForgeRockAPI {
    /// Stores a session before anyone uses it.
    ///
    /// The tokens that were made for another session go with it, since they may be another person's; a stronger session
    /// of the same person leaves them.
    func keep(_ token: Secret, upgrades: Bool) async throws {
        try await tokens.update { credentials in
            if !upgrades, credentials.ssoToken != token {
                credentials.remove(.session)
                credentials.remove(.refresh)
            }
            credentials.ssoToken = token
        }
    }

    /// Removes a session from the store, if it is still that one; other credentials stay.
    func forget(session token: Secret, call: Int) async throws {
        guard try await tokens.read().credentials.ssoToken == token else { return }
        try await tokens.update { credentials in
            if credentials.ssoToken == token { credentials.ssoToken = nil }
        }
        let runtime = client.runtime
        runtime.events.emit(RecoveryEvent(call: call, time: runtime.time.now, kind: .clear(.session)))
    }

    /// A call about the session itself.
    func session(_ action: String, version: String, token: Secret, calls: CallNumber) async throws -> Response {
        try await send(
            Call(
                path: "\(server.json("sessions"))?_action=\(action)",
                version: version,
                json: .object([]),
                action: action == "logout" ? .logout : nil,
                presents: .session,
                session: token,
                // Asking twice, or ending it twice, does what doing it once does.
                resend: .replayable,
                observer: { calls.observe($0) }
            )
        )
    }

    /// The session as the server sees it, which does not extend its life; nil where it is dead.
    ///
    /// - Throws: `RecoveryError` also where it is refused under an assumed name of its cookie, which proves nothing.
    func information(on token: Secret) async throws -> ForgeRockSession? {
        let calls = CallNumber()
        do {
            let response = try await session("getSessionInfo", version: "2.1", token: token, calls: calls)
            let json = try await json(response)
            guard case .object = json, json["realm"] != nil || json["username"] != nil || json["universalId"] != nil
            else { throw Self.failure(.unreadable, in: response) }
            return ForgeRockSession(information: json)
        } catch let error as RecoveryError where error.provesSessionDead {
            try await forget(session: token, call: calls.latest)
            return nil
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
