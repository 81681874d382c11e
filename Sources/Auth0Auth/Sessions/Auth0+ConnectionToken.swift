import AuthRecovery
import HTTPRecovery

extension Auth0 {
    /// Obtains a token of another provider's for the person who is signed in, so that calls can be made there for them (Token
    /// Vault, RFC 8693).
    ///
    /// The tenant is shown the refresh token if the app's refresh tokens do not rotate
    /// (``Auth0Configuration/rotationLeeway`` is nil), which it keeps to be presented again. One that rotates is spent by
    /// renewals alone: then the access token is shown, which the tenant takes for an API of its own.
    ///
    /// - Parameters:
    ///   - connection: The connection, such as `google-oauth2`.
    ///   - loginHint: Which of several accounts there; nil leaves that to the tenant.
    /// - Throws: `RecoveryError`: of the kind `user_action_required` if the person has not connected an account there, or has to
    ///   do so again, by a sign-in in a browser with that connection; `reauthentication_required` if they have to sign in
    ///   here; `step_up_required` if the tenant wants a second factor first. `CancellationError` as soon as the task is
    ///   cancelled.
    public func connectionToken(for connection: String, loginHint: String? = nil) async throws -> Auth0ConnectionToken {
        if let refresh = try await held().refreshToken, api.configuration.rotationLeeway == nil {
            return try await api.connectionToken(for: connection, refresh, .refreshToken, hint: loginHint)
        }
        let shown = try await usableAccessToken()
        do {
            return try await api.connectionToken(for: connection, shown, .accessToken, hint: loginHint)
        } catch let error as RecoveryError where error.kind == .credentialRejected {
            // It ended sooner than it said; whoever has renewed it meanwhile has done so for this, too.
            if try await held().accessToken == shown { try await refresh() }
            let renewed = try await usableAccessToken()
            return try await api.connectionToken(for: connection, renewed, .accessToken, hint: loginHint)
        }
    }

    /// The access token, renewed first if it has run out.
    private func usableAccessToken() async throws -> Secret {
        let present = try await held()
        if let token = present.accessToken, present.expiresAt.map({ $0 > client.runtime.time.wallTime }) ?? true {
            return token
        }
        guard present.refreshToken != nil else { throw RecoveryError.signedOut }
        try await refresh()
        guard let token = try await held().accessToken else { throw RecoveryError.signedOut }
        return token
    }
}

extension Auth0API {
    /// Shows a token of the tenant's for one of another provider's; it spends nothing.
    fileprivate func connectionToken(
        for connection: String,
        _ subject: Secret,
        _ type: OAuthClient.TokenType,
        hint: String?
    ) async throws -> Auth0ConnectionToken {
        var members: [JSONValue.Member] = [
            JSONValue.Member("subject_token", .string(subject.reveal())),
            JSONValue.Member("subject_token_type", .string(type.rawValue)),
            JSONValue.Member(
                "requested_token_type",
                "http://auth0.com/oauth/token-type/federated-connection-access-token"
            ),
            JSONValue.Member("connection", .string(connection)),
        ]
        if let hint { members.append(JSONValue.Member("login_hint", .string(hint))) }
        var call = grant("urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token", members)
        call.presents = type == .refreshToken ? .refresh : .access
        call.resend = .replayable
        let answer = try await tokens(in: try await send(call))
        return Auth0ConnectionToken(
            connection: connection,
            token: answer.accessToken,
            scopes: (answer.scope ?? "").split { $0 == " " || $0 == "," }.prefix(1024).map(String.init),
            expiresAt: answer.expiresAt
        )
    }
}
