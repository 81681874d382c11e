import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension OktaAPI {
    /// Checks that an ID token is of the app's server, for the app, and, if the app wants that, signed by the server.
    ///
    /// It has come from the server itself a moment ago, so that no clock is asked.
    ///
    /// - Throws: `RecoveryError` of the kind `invalid_request` with the code `issuer_mismatch`, `audience_mismatch` or
    ///   `signature_mismatch`; what the server answers in place of its keys.
    func verify(_ token: Secret, for app: OktaApp) async throws {
        let claims = UnverifiedJWT(token)?.claims
        guard claims?["iss"]?.string == app.issuer(at: org) else { throw Self.mismatch("issuer", claim: "iss") }
        let audience = claims?["aud"]
        guard audience?.string == app.clientID || audience?.array?.contains(.string(app.clientID)) == true else {
            throw Self.mismatch("audience", claim: "aud")
        }
        guard let signatures = app.signatures else { return }
        let known = knownKeys.withLock { $0 }
        if let known, signatures.isSigned(token, withOneOf: known) { return }
        // Keys change: the server is asked once more.
        let keys = try await keys(of: app)
        guard signatures.isSigned(token, withOneOf: keys) else { throw Self.mismatch("signature", claim: "id_token") }
    }

    private func keys(of app: OktaApp) async throws -> JSONValue {
        let path = app.path(at: org) + "/v1/keys"
        let call = Call(request: org.request(.get, path: path), resend: .byMethod, purpose: .plain)
        let response = try await send(call)
        guard let bytes = response.body.bytesInMemory, let keys = try? JSONValue(parsing: Array(bytes)),
            keys["keys"]?.array != nil
        else { throw RecoveryError(.unreadable, in: response) }
        knownKeys.withLock { $0 = keys }
        return keys
    }

    static func mismatch(_ name: String, claim: String) -> RecoveryError {
        var outcome = Outcome(.invalidRequest, processed: .yes, remedies: [.restartFlow])
        outcome.code = "\(name)_mismatch"
        outcome.parameter = claim
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
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
