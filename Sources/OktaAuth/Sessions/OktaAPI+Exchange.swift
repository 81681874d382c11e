import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension OktaAPI {
    /// Makes a session, or obtains an app's tokens, from a one-time session token.
    ///
    /// The token is presented once, whatever comes back: after a limit or a lost answer a new one is needed.
    func exchange(_ sessionToken: Secret, of transaction: OktaTransaction?) async throws -> OktaSession {
        if let app = configuration.app {
            return try await obtainTokens(for: app, with: sessionToken, of: transaction)
        }
        let response = try await send(
            Call(
                request: org.request(.post, path: "/api/v1/sessions"),
                body: ["sessionToken": .string(sessionToken.reveal())],
                presents: .code,
                purpose: .exchange
            )
        )
        guard let bytes = response.body.bytesInMemory, let json = try? JSONValue(parsing: Array(bytes)),
            var session = OktaSession(json), let id = session.id
        else { throw RecoveryError(.unreadable, in: response) }
        session.userID = session.userID ?? transaction?.userID
        session.login = session.login ?? transaction?.login
        // A session that has arrived is stored before anyone uses it, even if the caller has lost patience.
        let secret = id.reveal()
        try await tokens.keep { credentials in
            credentials.remove(.session)
            credentials.sessionID = secret
        }
        return session
    }

    private func obtainTokens(
        for app: OktaApp,
        with sessionToken: Secret,
        of transaction: OktaTransaction?
    ) async throws -> OktaSession {
        let oauth = try oauth(for: app)
        var parameters: FormFields = ["prompt": "none"]
        parameters.add("sessionToken", secret: sessionToken)
        parameters.add(app.assurance)
        let authorization = try oauth.authorizationRequest(
            redirectURI: app.redirectURI,
            scope: app.scope,
            parameters: parameters
        )
        let response = try await send(
            Call(request: try HTTPRequest(url: authorization.url), presents: .code, purpose: .exchange)
        )
        guard let location = response.headerFields[.location], Self.leads(location, to: app.redirectURI) else {
            // A login page, or a redirect to one, in place of the app's address.
            var refusal = RecoveryError(.credentialRejected, [.restartFlow], in: response)
            refusal.outcome.credential = .code
            refusal.outcome.tokenAction = .clear
            throw refusal
        }
        let answer = try await oauth.tokens(authorization.grant(for: OAuthClient.AuthorizationRedirect(url: location)))
        return try await keep(
            answer,
            nonce: authorization.nonce,
            userID: transaction?.userID,
            login: transaction?.login
        )
    }

    /// Stores the tokens of a sign-in, in place of those of another.
    ///
    /// - Parameters:
    ///   - answer: The tokens.
    ///   - nonce: What ties the ID token to the sign-in; nil if none was asked for.
    ///   - userID: The person's id, if it is known.
    ///   - login: The person's name, if it is known.
    func keep(
        _ answer: OAuthClient.TokenAnswer,
        nonce: Secret?,
        userID: String?,
        login: String?
    ) async throws -> OktaSession {
        try OAuthClient.AuthorizationRequest.check(answer, nonce: nonce)
        if let app = configuration.app {
            if let token = answer.idToken { try await verify(token, for: app, maxAge: app.assurance.maxAge) }
            try await check(answer, of: app)
        }
        try await tokens.keep { credentials in
            var fresh = credentials
            fresh.remove(.refresh)
            fresh.idToken = answer.idToken
            credentials = answer.merged(into: fresh)
        }
        let claims = answer.idToken.flatMap { UnverifiedJWT($0) } ?? UnverifiedJWT(answer.accessToken)
        return OktaSession(
            userID: userID ?? claims?.subject,
            login: login,
            status: "ACTIVE",
            expiresAt: answer.expiresAt,
            idToken: answer.idToken.flatMap(OAuthClient.IDToken.init)
        )
    }

    /// Whether a redirect leads to the app.
    private static func leads(_ location: String, to redirectURI: String) -> Bool {
        location.hasPrefix(redirectURI)
            && (location.dropFirst(redirectURI.count).first.map { "?&#/".contains($0) } ?? true)
    }
}
