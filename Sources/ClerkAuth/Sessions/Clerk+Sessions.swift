public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

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

    /// The client as it becomes known, from any answer that tells it, errors included; nil if there is none any more.
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
    public func session() async throws -> ClerkSession? {
        try await api.finishSignOuts()
        let stored = try await api.tokens.read().credentials
        guard stored.clientToken != nil, let id = stored.sessionID else { return nil }
        return try await api.liveSession(id)
    }

    /// The live session, as the server sees it now: Clerk renews its client token by its answers, so that there is nothing
    /// else to renew.
    ///
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if there is no session. `CancellationError` as soon
    ///   as the task is cancelled.
    @discardableResult
    public func refresh() async throws -> ClerkSession {
        guard let session = try await session() else { throw RecoveryError.signedOut }
        return session
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
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if the session is over, which is removed from
    ///   the store then. `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func activate(sessionID: String, organizationID: String? = nil) async throws -> ClerkSession {
        let id = try await api.heldSession(sessionID)
        return try await api.adopt(api.touch(session: id, organization: organizationID))
    }

    // MARK: Requests

    /// Sends a request with the client's credentials, for what has no function of its own.
    ///
    /// If the server says that the session is over, the client is read, once for all calls that are refused at the
    /// time. If the session lives, the request is sent once more; if it is really gone, it is removed from the store and
    /// the error says that a person has to sign in, as it does if the store names no session or the client is refused,
    /// too. If the client cannot be read, the error is of the kind of what kept it from being read, and its cause.
    ///
    /// - Parameters:
    ///   - request: The request; its path is below the base URL, such as `/v1/me`.
    ///   - responder: Answers what is asked if the request wants the person to prove themselves again, as
    ///     ``reverify(_:sessionID:answering:options:)`` does, or that they are no robot (`Factor.Key.captcha`); the request
    ///     is sent once more then, which the server has refused unprocessed. Nil leaves that to the caller.
    /// - Throws: `RecoveryError`; `Challenge.NoAnswer` if the responder had none, `CancellationError` as soon as the task is
    ///   cancelled.
    public func send(
        _ request: ProviderRequest,
        answering responder: (any ChallengeResponder)?
    ) async throws -> RecoveredResponse {
        let sessionID = try await api.tokens.read().credentials.sessionID
        let call = ClerkAPI.Call(
            method: request.method,
            path: request.path,
            query: request.query,
            headerFields: request.headerFields,
            body: request.body,
            resend: request.resend,
            sessionID: sessionID,
            asksClient: true,
            account: try await api.account(of: request, session: sessionID)
        )
        let response: RecoveredResponse
        if let responder {
            var flow: SignInFlow<Result<RecoveredResponse, RecoveryError>> = flow(
                ClerkRequestStage(api: api, call: call),
                SignInOptions(),
                because: Outcome(.stepUpRequired)
            )
            response = try await flow.run(answering: responder).get()
        } else {
            response = try await api.send(call)
        }
        await api.keepAccount(of: response, to: request)
        return response
    }
}
