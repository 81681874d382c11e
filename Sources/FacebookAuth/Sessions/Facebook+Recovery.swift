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
    func recovering<Value: Sendable>(
        _ token: FacebookToken,
        _ responder: (any ChallengeResponder)?,
        continuing earlier: FacebookAuthorization? = nil,
        _ call: (FacebookAuthorization, GraphAPI) async throws -> Value
    ) async throws -> Value {
        do {
            return try await attended(token, responder, continuing: earlier, call)
        } catch let error as RecoveryError {
            throw error.worded
        }
    }

    private func attended<Value: Sendable>(
        _ token: FacebookToken,
        _ responder: (any ChallengeResponder)?,
        continuing earlier: FacebookAuthorization?,
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
            where: { [api] in api.isForPerson($0) },
            send: { authorization, operation in
                let api = api.within(operation)
                try await api.requireToken()
                return try await call(authorization, api)
            },
            asking: { error, operation in
                let session = try await within(operation).signIn(answering: responder)
                if let id = first.presented?.userID, let other = session.user?.id, other != id {
                    throw error.ofAnotherPerson
                }
                return FacebookAuthorization(api, token: token)
            }
        )
    }
}

extension GraphAPI {
    /// - Throws: `RecoveryError` of the kind `reauthentication_required` if no token is stored.
    fileprivate func requireToken() async throws {
        guard try await store.read().credentials.accessToken?.isEmpty == false else { throw RecoveryError.signedOut }
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
