import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension OktaAPI {
    /// Checks that an ID token is of the app's server, for the app, and, if the app wants that, signed by the server.
    ///
    /// - Throws: As `OAuthClient.IDTokenKeys` does; what the server answers in place of its keys.
    func verify(_ token: Secret, for app: OktaApp) async throws {
        try await knownKeys.check(
            token,
            issuer: app.issuer(at: org),
            clientID: app.clientID,
            signatures: app.signatures
        ) {
            let path = app.path(at: org) + "/v1/keys"
            return try await send(Call(request: org.request(.get, path: path), resend: .byMethod, purpose: .plain))
        }
    }

    /// The address that ends the browser's session of an ID token.
    func endSession(_ token: Secret, for app: OktaApp, redirectURI: String?, state: Secret?) -> HTTPRequest {
        var query = FormFields()
        query.add("id_token_hint", secret: token)
        query.add("post_logout_redirect_uri", redirectURI)
        query.add("state", secret: state)
        return org.request(.get, path: app.path(at: org) + "/v1/logout", query: query)
    }
}
