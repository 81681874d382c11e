public import AuthRecovery
import HTTPRecovery

extension GraphAPI {
    /// Whose word it has to be, by whichever way somebody has signed in.
    private static let issuer = "https://www.facebook.com"

    /// Checks that an ID token is Facebook's, for the app, still good, of the request and, if somebody can tell, signed with
    /// one of Facebook's keys (OpenID Connect Core 1.0 section 3.1.3.7).
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - nonce: What ties it to the request; nil if there is nothing to compare.
    ///   - now: The time.
    /// - Throws: As `OAuthClient.IDTokenKeys` does; what Facebook answers in place of its keys.
    func verify(_ token: Secret, nonce: Secret?, at now: Timestamp) async throws -> OAuthClient.IDToken {
        try await knownKeys.check(
            token,
            issuer: Self.issuer,
            clientID: app.id,
            at: now,
            signatures: configuration.signatures
        ) {
            let request = site.request(ofSite: ".well-known/oauth/openid/jwks/")
            return try await send(Call(path: "", request: request, token: .none, resend: .replayable))
        }
        guard let read = OAuthClient.IDToken(token) else {
            throw OAuthClient.IDTokenKeys.mismatch("issuer", claim: "iss")
        }
        if let nonce, read.claims["nonce"]?.string != nonce.reveal() {
            throw OAuthClient.IDTokenKeys.mismatch("nonce", claim: "nonce")
        }
        return read
    }
}

extension Facebook {
    /// Checks an ID token that somebody else has obtained, such as an app on a phone by Limited Login, and tells whose it is.
    ///
    /// It has to be Facebook's, for this app, still good, and of the request that the nonce stands for; and signed with one of
    /// Facebook's keys. With it nothing can be asked of Graph, and nothing is stored.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - nonce: The nonce that the app's request had. It is compared: who does not know it cannot tell a token that was
    ///     stolen elsewhere.
    /// - Throws: `RecoveryError`: of the kind `misconfigured` without ``FacebookConfiguration/signatures``, since nothing but its
    ///   signature proves where it comes from; of the kind `invalid_request` with the code `issuer_mismatch`,
    ///   `audience_mismatch`, `expiry_mismatch`, `nonce_mismatch`, `algorithm_mismatch` or `signature_mismatch`; what Facebook
    ///   answers in place of its keys. `CancellationError` as soon as the task is cancelled.
    public func verify(idToken token: Secret, nonce: Secret) async throws -> OAuthClient.IDToken {
        guard api.configuration.signatures != nil else { throw RecoveryError.missing("signatures") }
        return try await api.verify(token, nonce: nonce, at: api.client.runtime.time.wallTime)
    }
}
