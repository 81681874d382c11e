import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension ClerkAPI {
    /// Reads the client.
    ///
    /// - Returns: The client; nil if the server says that there is none. If an answer to a later request has told
    ///   something newer meanwhile, that is returned.
    func readClient() async throws -> ClerkClient? {
        let answer = try await perform(Call(path: "/client"))
        let client = ClerkClient.find(in: answer.json)
        // Only an answer that says so means that there is none; anything else cannot be read.
        if client == nil, answer.json["response"]?.isNull != true { throw answer.failure(.unreadable) }
        let known = mirror.known(ClientToken.lineage(of: try await tokens.read().credentials))
        return known ?? client
    }

    /// Reads a session; one that is not live any more is removed from the store.
    func liveSession(_ id: String) async throws -> ClerkSession? {
        try await client.looseOperation { operation in
            if let session = try await within(operation).readClient()?.liveSession(id) { return session }
            try await forget(session: id, operation.context)
            return nil
        }
    }

    /// Has the server look at a session again, and makes it the one in use.
    ///
    /// - Parameters:
    ///   - id: The session.
    ///   - organization: The organization to be active in it; empty for the personal account, nil leaves it.
    func touch(session id: String, organization: String?) async throws -> ClerkSession {
        var form = FormFields()
        form.add("intent", organization == nil ? "select_session" : "select_org")
        form.add("active_organization_id", organization)
        let answer = try await perform(
            Call(
                method: .post,
                path: "/client/sessions/\(FormFields.encode(segment: id))/touch",
                body: .form(form),
                // Choosing a session twice chooses it once.
                resend: .replayable,
                concerns: id
            )
        )
        if organization != nil { sessionTokens.expire(session: id) }
        let named = answer.json["response"].flatMap { ClerkSession($0) }
        guard let session = named?.id == id ? named : ClerkClient.find(in: answer.json)?.liveSession(id) else {
            throw answer.failure(.unreadable)
        }
        return session
    }

    /// Stores the session that a flow has led to.
    ///
    /// An answer that names it need not show it; then the client is read, since only that tells whether it is active.
    ///
    /// - Parameters:
    ///   - id: The session's id; nil for the client's current one.
    ///   - answer: The answer that says that the flow is complete.
    /// - Throws: `RecoveryError`; of the kind `unreadable` if nothing shows the session.
    func adopt(session id: String?, endOf answer: ClerkAnswer) async throws -> ClerkSession {
        guard let id else {
            guard let session = answer.client?.currentSession else { throw answer.failure(.unreadable) }
            return try await adopt(session)
        }
        if let shown = answer.client?.sessions.first(where: { $0.id == id }) { return try await adopt(shown) }
        guard let read = try await readClient()?.sessions.first(where: { $0.id == id }) else {
            throw answer.failure(.unreadable)
        }
        return try await adopt(read)
    }

    /// Stores a session before anyone uses it; what belongs to another one goes.
    func adopt(_ session: ClerkSession) async throws -> ClerkSession {
        try await tokens.update { credentials in
            if credentials.sessionID != session.id { credentials.remove(.session) }
            credentials.sessionID = session.id
            AccountNames.write(session.account, of: session.id, to: &credentials)
        }
        return session
    }

    /// Removes a session from the store, if it is still that one, and its session tokens; told as of what the call or
    /// operation has done.
    func forget(session id: String, _ context: CallContext) async throws {
        sessionTokens.drop(session: id)
        while true {
            let present = try await tokens.read()
            guard present.credentials.sessionID == id else { return }
            var changed = present.credentials
            changed.remove(.session)
            AccountNames.remove(id, from: &changed)
            if try await tokens.replace(version: present.version, with: changed) != nil { break }
        }
        context.emit(.clear(.session))
    }

    /// The id of the session that the store names.
    ///
    /// - Throws: `RecoveryError` of the kind `reauthentication_required` if it names none.
    func heldSession(_ id: String?) async throws -> String {
        let stored = try await tokens.read().credentials
        if stored.clientToken != nil, let id = id ?? stored.sessionID { return id }
        throw RecoveryError.signedOut
    }
}
