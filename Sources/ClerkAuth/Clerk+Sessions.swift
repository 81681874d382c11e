public import AuthRecovery
public import HTTPRecovery
public import HTTPTypes

extension Clerk {
    // MARK: The client

    /// The client as the server sees it now; nil when it has none.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked, or answers with something else than a client.
    ///   `CancellationError` as soon as the task is cancelled.
    public func currentClient() async throws -> ClerkClient? {
        try await api.finishSignOuts()
        return try await api.readClient()
    }

    /// The client as it becomes known, from any answer that tells it, errors included; nil where there is none any more.
    ///
    /// An answer that comes late is left out. Of several changes at once the last is told.
    public var clientChanges: AsyncStream<ClerkClient?> {
        api.mirror.changes()
    }

    // MARK: Sessions

    /// The live session that the store names, as the server sees it now; nil when there is none.
    ///
    /// A session that has ended at the server is removed from the store; the client token stays, since it tells Clerk
    /// that this device is known. A sign-out that the server does not know of yet is told first.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked, or answers with something else than a client;
    ///   nothing is removed then.
    public func currentSession() async throws -> ClerkSession? {
        try await api.finishSignOuts()
        let stored = try await api.tokens.read().credentials
        guard stored.clientToken != nil, let id = stored.sessionID else { return nil }
        return try await api.liveSession(id)
    }

    /// The live sessions of the client, as the server sees them now: several people may be signed in at a time.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked, or answers with something else than a client.
    public func sessions() async throws -> [ClerkSession] {
        try await currentClient()?.sessions.filter(\.status.isLive) ?? []
    }

    /// Uses another session of the client from now on, and tells the server which one and which organization.
    ///
    /// Session tokens that were made for another organization are dropped.
    ///
    /// - Parameters:
    ///   - sessionID: The session.
    ///   - organizationID: The organization to be active in it; empty for the personal account, nil leaves it.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` where the session is over, which is removed from
    ///   the store then. `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func activate(sessionID: String, organizationID: String? = nil) async throws -> ClerkSession {
        let id = try await api.heldSession(sessionID)
        var form = FormFields()
        form.add("intent", organizationID == nil ? "select_session" : "select_org")
        form.add("active_organization_id", organizationID)
        let answer = try await api.perform(
            ClerkAPI.Call(
                method: .post,
                path: "/client/sessions/\(FormFields.encode(segment: id))/touch",
                form: form,
                // Choosing a session twice chooses it once.
                resend: .replayable,
                concerns: id
            )
        )
        if organizationID != nil { api.sessionTokens.expire(session: id) }
        let named = answer.json["response"].flatMap { ClerkSession($0) }
        guard let session = named?.id == id ? named : ClerkClient.find(in: answer.json)?.liveSession(id) else {
            throw answer.failure(.unreadable)
        }
        return try await api.adopt(session)
    }

    // MARK: Requests

    /// Sends a request with the client's credentials, for what has no function of its own.
    ///
    /// Where the server says that the session is over, the client is read, once for all calls that are refused at the
    /// time. If the session lives, the request is sent once more; if it is really gone, it is removed from the store and
    /// the error says that a person has to sign in, as it does where the store names no session or the client is refused,
    /// too. Where the client cannot be read, the error is of the kind of what kept it from being read, and its cause.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL, such as `/v1/me`.
    ///   - form: The fields of the body; nil sends none.
    ///   - resend: What makes it safe to send the request again on doubt. Default: its method.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func send(
        _ method: HTTPRequest.Method = .get,
        path: String,
        form: FormFields? = nil,
        resend: RequestOptions.ResendPermission = .byMethod
    ) async throws -> RecoveredResponse {
        let sessionID = try await api.tokens.read().credentials.sessionID
        return try await api.send(
            ClerkAPI.Call(
                method: method,
                path: path,
                form: form,
                resend: resend,
                sessionID: sessionID,
                asksClient: true
            )
        )
    }
}
