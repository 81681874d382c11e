public import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Clerk {
    /// The person's live sessions on all their devices, this one's included, with what Clerk knows of the devices.
    ///
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if there is no session. `CancellationError` as soon
    ///   as the task is cancelled.
    public func sessionsOnAllDevices() async throws -> [ClerkSession] {
        let id = try await api.heldSession(nil)
        let call = ClerkAPI.Call(path: "/me/sessions/active", sessionID: id, asksClient: true)
        let answer = try await api.perform(call)
        guard let list = (answer.json["response"] ?? answer.json).array else { throw answer.failure(.unreadable) }
        return list.compactMap { ClerkSession($0) }.filter(\.status.isLive)
    }

    /// Ends a session of the person's on whichever device it is.
    ///
    /// Tokens that were issued for it are good until they expire. One's own session is removed from the store; the client token
    /// stays, as behind ``signOut(sessionID:)``.
    ///
    /// - Parameters:
    ///   - sessionID: The session, as ``sessionsOnAllDevices()`` tells it.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `not_found` if the person has no such session. `CancellationError` as soon as the
    ///   task is cancelled.
    public func revoke(sessionID: String, answering responder: (any ChallengeResponder)? = nil) async throws {
        let path = "/v1/me/sessions/\(FormFields.encode(segment: sessionID))/revoke"
        // Revoking twice revokes once.
        let request = ProviderRequest(.post, path: path, body: .form(FormFields()), resend: .replayable)
        _ = try await send(request, answering: responder)
        try await api.client.looseOperation { try await api.forget(session: sessionID, $0.context) }
    }
}
