public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

extension Facebook {
    // MARK: The person

    /// Who is signed in, as the server sees it now; nil if nobody is any more.
    ///
    /// A token that the server definitely refuses is removed from the store, and the person's profile with it.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked, or wants the person to settle something at Facebook
    ///   (`user_action_required`); nothing is removed then. `CancellationError` as soon as the task is cancelled.
    public func currentUser() async throws -> FacebookUser? {
        guard try await api.store.read().credentials.accessToken != nil else { return nil }
        do {
            return try await recovering(.stored, nil, isRead: true) { authorization, api in
                try await api.profile(authorization)
            }
        } catch let error as RecoveryError where error.kind == .reauthenticationRequired {
            return nil
        }
    }

    /// The session, with who is signed in as the server sees it now; nil if nobody is any more.
    ///
    /// - Throws: As ``currentUser()``.
    public func session() async throws -> FacebookSession? {
        guard let user = try await currentUser() else { return nil }
        var session = try await api.store.read().credentials.facebookSession
        session.user = user
        return session
    }

    /// Who was signed in when it was asked last; nil if that is not known.
    ///
    /// It asks nobody.
    ///
    /// - Throws: `Credentials.StoreError` when the store cannot be read.
    public func cachedUser() async throws -> FacebookUser? {
        try await api.store.read().credentials.facebookProfile.flatMap { FacebookUser($0) }
    }

    /// What the person has said about each permission.
    ///
    /// Look here before asking again: one that was declined needs another question than one that was never asked for.
    ///
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func permissions() async throws -> [FacebookPermission] {
        try await recovering(.stored, nil, isRead: true) { authorization, api in
            try await api.readPermissions(authorization)
        }
    }

    // MARK: Calls

    /// Sends a request.
    ///
    /// Limits are waited for and outages repeated as the client's policies allow; a write is repeated only if Graph
    /// says that it was not done. A stored token that is definitely refused is removed; if it is not certain whether it
    /// is dead or only waits for its person, the server is asked first if the app has its secret.
    ///
    /// - Parameters:
    ///   - request: The request; its path is below the version, such as `me/feed`, and may have a version of its own.
    ///   - token: Which token is presented.
    ///   - business: The business or ad account that the call counts for, if the path does not tell, so that its limit
    ///     holds the calls that count for it and no others.
    ///   - counterpart: The customer that a message is for, so that the limit for the pair holds nobody else's.
    ///   - responder: Signs in again, for the permissions that the token had, if it was definitely refused, and the call is
    ///     made once more with the new token: a read unless another person has signed in, anything else only for a person
    ///     who is known to be the same. Nil, the default, leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if a person has to sign in,
    ///   `user_action_required` if they have to settle something at Facebook. `CancellationError` as soon as the task
    ///   is cancelled.
    public func send(
        _ request: ProviderRequest,
        as token: FacebookToken,
        business: String? = nil,
        counterpart: String? = nil,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws -> RecoveredResponse {
        let call = GraphAPI.Call(
            method: request.method,
            path: request.path,
            query: request.query,
            headerFields: request.headerFields,
            body: request.body,
            token: token,
            resend: request.resend,
            business: business,
            counterpart: counterpart
        )
        return try await send(call, answering: responder)
    }

    /// Sends a request with the person's token, as ``send(_:as:business:counterpart:answering:)`` does.
    public func send(
        _ request: ProviderRequest,
        answering responder: (any ChallengeResponder)?
    ) async throws -> RecoveredResponse {
        try await send(request, as: .stored, answering: responder)
    }

    func send(
        _ call: GraphAPI.Call,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws -> RecoveredResponse {
        try await recovering(call.token, responder, isRead: call.isRead) { authorization, api in
            try await api.send(call, authorization: authorization)
        }
    }

    // MARK: Tokens

    /// Exchanges the person's token for one that lives longer, about 60 days; that works only while the old one does.
    ///
    /// - Returns: The session then.
    /// - Throws: `RecoveryError`: of the kind `misconfigured` if the app has no secret, of the kind
    ///   `reauthentication_required` if there is no token that works. `CancellationError` as soon as the task is
    ///   cancelled, which does not cancel an exchange that is under way.
    @discardableResult
    public func refresh() async throws -> FacebookSession {
        guard api.app.secret != nil else { throw RecoveryError.missing("client_secret") }
        return try await api.client.operation { try await tokens.renew($0.context).credentials.facebookSession }
    }

    /// Asks what Facebook knows of a token, presenting the app's own (`debug_token`).
    ///
    /// - Parameter token: The token; nil asks about the stored one.
    /// - Throws: `RecoveryError`: of the kind `misconfigured` if the app has no secret or a wrong one, of the kind
    ///   `reauthentication_required` if no token is stored. `CancellationError` as soon as the task is cancelled.
    public func inspect(_ token: Secret? = nil) async throws -> FacebookTokenInfo {
        let held = try await api.store.read().credentials.accessToken
        guard let token = token ?? held else { throw RecoveryError.signedOut }
        return try await api.inspect(token)
    }

    /// Signs out: forgets the person's token and profile, and tells Facebook nothing.
    @discardableResult
    public func signOut() async throws -> SignOutResult {
        try await signOut(revoking: false)
        return .ended
    }

    /// Signs out: forgets the person's token and profile.
    ///
    /// - Parameter revoking: Whether the person's permissions are taken back at Facebook first, which ends the token
    ///   there, everywhere.
    /// - Throws: `RecoveryError` when the server was to be told and could not be; the token is still held then.
    ///   `CancellationError` as soon as the task is cancelled.
    public func signOut(revoking: Bool) async throws {
        try await api.client.operation { operation in
            let held = try await api.store.read().credentials
            guard let version = held.version(of: .access) else {
                try await api.store.update { credentials in
                    credentials.facebookProfile = nil
                    credentials.facebookPermissions = []
                }
                return
            }
            if revoking {
                do {
                    let call = GraphAPI.Call(method: .delete, path: "me/permissions", resend: .replayable)
                    _ = try await api.within(operation).send(call)
                } catch let error as RecoveryError
                    where error.kind == .credentialRejected || error.kind == .reauthenticationRequired
                {
                    // The token is dead already, which is what was wanted.
                }
            }
            if try await api.store.clear(ifVersion: version, keepsProfile: false) {
                operation.emit(.clear(.access))
                try await api.store.update { $0.facebookPermissions = [] }
            }
        }
    }
}
