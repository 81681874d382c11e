import AuthRecovery
import HTTPRecovery

extension ClerkAPI {
    /// Reads the client.
    ///
    /// - Returns: The client, nil where the server says that there is none, and the number of the call. Where an answer
    ///   to a later request has told something newer meanwhile, that is returned.
    func readClient() async throws -> ClientReads.Reading {
        let calls = CallNumber()
        let answer = try await perform(Call(path: "/client", observer: { calls.observe($0) }))
        let client = ClerkClient.find(in: answer.json)
        // Only an answer that says so means that there is none; anything else cannot be read.
        if client == nil, answer.json["response"]?.isNull != true { throw answer.failure(.unreadable) }
        let known = mirror.known(ClientToken.lineage(of: try await tokens.read().credentials))
        return ClientReads.Reading(client: known ?? client, call: calls.latest)
    }

    /// Reads a session; one that is not live any more is removed from the store.
    func liveSession(_ id: String) async throws -> ClerkSession? {
        let reading = try await readClient()
        if let session = reading.client?.liveSession(id) { return session }
        try await forget(session: id, call: reading.call)
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

    /// Removes a session from the store, if it is still that one, and its session tokens.
    func forget(session id: String, call: Int) async throws {
        sessionTokens.drop(session: id)
        let present = try await tokens.read().credentials
        guard present.sessionID == id, let version = present.version(of: .session),
            try await tokens.clear(.session, ifVersion: version)
        else { return }
        let runtime = client.runtime
        runtime.events.emit(RecoveryEvent(call: call, time: runtime.time.now, kind: .clear(.session)))
    }

    /// The id of the session that the store names.
    ///
    /// - Throws: `RecoveryError` of the kind `reauthentication_required` where it names none.
    func heldSession(_ id: String?) async throws -> String {
        let stored = try await tokens.read().credentials
        if stored.clientToken != nil, let id = id ?? stored.sessionID { return id }
        throw RecoveryError(
            outcome: Outcome(.reauthenticationRequired, processed: .no, remedies: [.reauthenticate]),
            reason: .notRecoverable
        )
    }
}
