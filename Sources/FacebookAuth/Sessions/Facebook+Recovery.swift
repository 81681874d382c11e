import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Facebook {
    /// Makes a call, and if nobody is signed in (any more), signs in and makes it once more.
    ///
    /// - Parameters:
    ///   - token: Which token is presented; what is done if the stored one is refused is a policy of the call.
    ///   - responder: Signs in; nil leaves that to the caller.
    ///   - earlier: What an earlier part of the same work has presented its token with: it goes on for the same person
    ///     only.
    ///   - isRead: Whether the call only reads. Anything else is made once more only for a person who is known to be the same.
    func recovering<Value: Sendable>(
        _ token: FacebookToken,
        _ responder: (any ChallengeResponder)?,
        continuing earlier: FacebookAuthorization? = nil,
        isRead: Bool,
        _ call: (FacebookAuthorization, GraphAPI) async throws -> Value
    ) async throws -> Value {
        do {
            return try await attended(token, responder, earlier, isRead, call)
        } catch let error as RecoveryError {
            throw error.worded
        }
    }

    private func attended<Value: Sendable>(
        _ token: FacebookToken,
        _ responder: (any ChallengeResponder)?,
        _ earlier: FacebookAuthorization?,
        _ isRead: Bool,
        _ call: (FacebookAuthorization, GraphAPI) async throws -> Value
    ) async throws -> Value {
        if token != .stored, token != .none, token.given(by: api.app) == nil {
            throw RecoveryError.missing(token == .client ? "client_token" : "client_secret")
        }
        let first = earlier ?? FacebookAuthorization(api, token: token)
        guard let responder, token == .stored, api.configuration.recoversFromErrors else {
            if token == .stored { try await api.requireToken() }
            return try await call(first, api)
        }
        return try await api.client.attended(
            first,
            where: { [api] in api.isForPerson($0, isRead: isRead) },
            send: { authorization, operation in
                let api = api.within(operation)
                try await api.requireToken()
                return try await call(authorization, api)
            },
            asking: { error, operation in
                try await within(operation).signInAgain(after: error, first.presented, isRead: isRead, responder)
                return FacebookAuthorization(api, token: token)
            }
        )
    }

    /// Signs in, since a token is of no use any more, so that a call with it can be made once more.
    ///
    /// - Parameters:
    ///   - error: What the call has come to.
    ///   - presented: What it has presented; nil if it had nothing to present, and so was made for nobody.
    ///   - isRead: Whether it only reads.
    ///   - responder: Signs in.
    /// - Throws: `RecoveryError`: what the sign-in has come to, or of the reason `identity_changed` if the call must not be
    ///   made again. Whoever has signed in stays so.
    func signInAgain(
        after error: RecoveryError,
        _ presented: FacebookAuthorization.Presented?,
        isRead: Bool,
        _ responder: any ChallengeResponder
    ) async throws {
        let before = try await api.signedInBefore(presented, wanting: error)
        let session = try await signIn(
            permissions: before.permissions,
            authType: error.wishedAuthType,
            answering: responder
        )
        guard presented != nil else { return }
        guard let id = before.userID, let other = session.user?.id else {
            if !isRead { throw error.ofUnknownPerson }
            return
        }
        if other != id { throw error.ofAnotherPerson }
    }
}

extension GraphAPI {
    /// - Throws: `RecoveryError` of the kind `reauthentication_required` if no token is stored.
    fileprivate func requireToken() async throws {
        guard try await store.read().credentials.accessToken?.isEmpty == false else { throw RecoveryError.signedOut }
    }

    /// Whose a token was that is of no use any more, and which permissions it had, so that its person is asked for the same;
    /// nil for what nobody knows.
    ///
    /// What the person has declined is left alone, but for what the call wants: the permission that its error names, or any of
    /// them if it names none.
    fileprivate func signedInBefore(
        _ presented: FacebookAuthorization.Presented?,
        wanting error: RecoveryError
    ) async throws -> (userID: String?, permissions: [String]?) {
        let wanted = error.outcome.parameter
        let kept = try await store.read().credentials.facebookPermissions.filter { permission in
            guard permission.status == .declined else { return true }
            return error.kind == .permissionDenied && (wanted == nil || wanted == permission.name)
        }
        var names = kept.map(\.name)
        var userID = presented?.userID
        if let token = presented?.token, names.isEmpty || userID == nil, app.secret != nil {
            do {
                let info = try await inspect(token)
                userID = userID ?? info.userID
                if names.isEmpty { names = info.scopes }
            } catch is RecoveryError {
                // Then nobody knows more than before.
            }
        }
        // A dialog that wants it asks for it by itself.
        names.removeAll { $0 == "openid" }
        return (userID, names.isEmpty ? nil : names)
    }

    /// Asks what Facebook knows of a token.
    func inspect(_ token: Secret) async throws -> FacebookTokenInfo {
        guard let own = app.token else { throw RecoveryError.missing("client_secret") }
        var query = FormFields()
        query.add("input_token", secret: token)
        query.add("access_token", secret: own)
        let response = try await send(
            Call(path: "debug_token", query: query, token: .none, presents: .client, purpose: .inspection)
        )
        let bytes = Array(response.body.bytesInMemory ?? [])
        let outcome = classifier.classify(
            Exchange(
                method: .get,
                path: "/debug_token",
                presented: .client,
                result: .response(response.head, body: bytes),
                now: client.runtime.time.wallTime
            )
        )
        guard let info = FacebookTokenInfo(try json(in: response), outcome: outcome) else {
            throw RecoveryError(.unreadable, in: response)
        }
        return info
    }

    /// Keeps who is signed in beside the token, if that is still the one that was asked with.
    func keepProfile(in response: RecoveredResponse, token: Secret?) async throws -> FacebookUser {
        let json = try json(in: response)
        guard let user = FacebookUser(json) else { throw RecoveryError(.unreadable, in: response) }
        try await store.keep { credentials in
            guard credentials.accessToken == token, credentials.accessToken != nil else { return }
            credentials.facebookProfile = json
        }
        return user
    }
}

extension RecoveryError {
    /// How a sign-in that is to help asks somebody who has been asked before.
    fileprivate var wishedAuthType: FacebookConfiguration.WebLogin.AuthType? {
        if kind == .permissionDenied { return .rerequest }
        return outcome.subcode == "493" ? .reauthorize : nil
    }
}
