import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Facebook {
    /// Makes a call, and does what can be done where its token is refused.
    ///
    /// - Parameter earlier: What an earlier part of the same work has presented its token with: it goes on for the same
    ///   person only.
    func recovering<Value: Sendable>(
        _ token: FacebookToken,
        _ responder: (any ChallengeResponder)?,
        continuing earlier: FacebookAuthorization? = nil,
        _ call: (FacebookAuthorization, GraphAPI) async throws -> Value
    ) async throws -> Value {
        if token == .stored {
            let held = try await api.store.read().credentials.accessToken
            guard held?.isEmpty == false else {
                guard let responder, api.configuration.recoversFromErrors else { throw RecoveryError.signedOut }
                _ = try await signIn(answering: responder)
                return try await call(FacebookAuthorization(api, token: token), api)
            }
        } else if token != .none, token.given(by: api.app) == nil {
            throw RecoveryError.missing(token == .client ? "client_token" : "client_secret")
        }
        let authorization = earlier ?? FacebookAuthorization(api, token: token)
        do {
            return try await call(authorization, api)
        } catch let error as RecoveryError where error.isDefiniteRefusal && token == .stored {
            guard let presented = authorization.presented else { throw error }
            try await api.settle(error, presented)
            // The refusal says that nothing was done, so the call goes out once more under a token that is there now.
            let present = try await api.store.read().credentials
            if present.accessToken == nil {
                guard let responder, api.configuration.recoversFromErrors else { throw Self.conclusion(of: error) }
                let session = try await signIn(answering: responder)
                let isOther = presented.userID.map { id in session.user.map { $0.id != id } ?? false } ?? false
                if isOther { throw Self.mismatch(after: error) }
            } else if !api.configuration.recoversFromErrors {
                throw error
            } else if let id = presented.userID {
                let known: String
                if let id = present.facebookUserID { known = id } else { known = try await api.profile().id }
                if known != id { throw Self.mismatch(after: error) }
            }
            return try await call(FacebookAuthorization(api, token: token), api)
        }
    }

    private static func conclusion(of error: RecoveryError) -> RecoveryError {
        var error = error
        error.outcome.kind = .reauthenticationRequired
        error.outcome.remedies = [.reauthenticate]
        return error
    }

    private static func mismatch(after error: RecoveryError) -> RecoveryError {
        var error = error
        error.outcome.kind = .stateConflict
        error.outcome.remedies = [.restartFlow]
        error.outcome.tokenAction = .keep
        error.reason = .identityChanged
        return error
    }
}

extension GraphAPI {
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
            throw failure(.unreadable, in: response)
        }
        return info
    }

    /// Keeps who is signed in beside the token, if that is still the one that was asked with.
    func keepProfile(in response: Response, token: Secret?) async throws -> FacebookUser {
        let json = try json(in: response)
        guard let user = FacebookUser(json) else { throw failure(.unreadable, in: response) }
        _ = try await Task { [store] in
            try await store.update { credentials in
                guard credentials.accessToken == token, credentials.accessToken != nil else { return }
                credentials.facebookProfile = json
            }
        }.value
        return user
    }
}
