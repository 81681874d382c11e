import AuthRecovery
import HTTPRecovery

extension ClerkAPI {
    /// Reads the client.
    ///
    /// - Returns: The client, nil where the server says that there is none; and the number of the call.
    func readClient() async throws -> (client: ClerkClient?, call: Int) {
        let calls = CallNumber()
        let answer = try await perform(Call(path: "/client", observer: { calls.observe($0) }))
        if let client = ClerkClient.find(in: answer.json) { return (client, calls.latest) }
        // Only an answer that says so means that there is none; anything else cannot be read.
        guard answer.json["response"]?.isNull == true else { throw answer.failure(.unreadable) }
        return (nil, calls.latest)
    }

    /// Reads a session; one that is not live any more is removed from the store.
    func liveSession(_ id: String) async throws -> ClerkSession? {
        let (client, call) = try await readClient()
        if let session = client?.liveSession(id) { return session }
        try await forget(session: id, call: call)
        return nil
    }

    /// Stores a session before anyone uses it; what belongs to another one goes.
    func adopt(_ session: ClerkSession) async throws -> ClerkSession {
        try await tokens.update { credentials in
            if credentials.sessionID != session.id { credentials.remove(.session) }
            credentials.sessionID = session.id
        }
        return session
    }

    /// Removes a session from the store, if it is still that one.
    func forget(session id: String, call: Int) async throws {
        guard try await tokens.read().credentials.sessionID == id else { return }
        try await tokens.update { credentials in
            if credentials.sessionID == id { credentials.remove(.session) }
        }
        let runtime = client.runtime
        runtime.events.emit(RecoveryEvent(call: call, time: runtime.time.now, kind: .clear(.session)))
    }
}
