import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension OktaAPI {
    /// Checks that an ID token is of the app's server, for the app, still good, and, if the app wants that, signed by the server.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - app: The app.
    ///   - maxAge: How long ago the person may have proved themselves; nil for a renewal, which proves nothing again.
    /// - Throws: As `OAuthClient.IDTokenKeys` does; what the server answers in place of its keys.
    func verify(_ token: Secret, for app: OktaApp, maxAge: Duration? = nil) async throws {
        try await knownKeys.check(
            token,
            issuer: app.issuer(at: org),
            clientID: app.clientID,
            at: clocks.time(at: org.origin, wallTime: client.runtime.time.wallTime),
            maxAge: maxAge,
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
