import AuthRecovery
import HTTPRecovery

/// Renews an app's tokens, and takes an ID token that comes with them only after it was verified.
struct OktaRenewer: TokenRenewer {
    let grant: RefreshTokenGrant
    let api: OktaAPI
    let app: OktaApp

    var reuse: RefreshTokenGrant.Reuse { grant.reuse }

    func canRenew(_ credentials: Credentials) -> Bool { grant.canRenew(credentials) }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        var renewed = try await grant.renew(credentials, in: operation)
        guard let token = renewed.idToken, token != credentials.idToken else { return renewed }
        do {
            try await api.within(operation).verify(token, for: app)
            try Self.check(token, follows: credentials.idToken)
        } catch let error as RecoveryError where error.outcome.code?.hasSuffix("_mismatch") != true {
            // The server's keys cannot be had now. What was renewed stays renewed, for the old refresh token may be used
            // up; but nobody is named by what nobody has verified.
            try Task.checkCancellation()
            renewed.idToken = credentials.idToken
        }
        return renewed
    }

    /// Whether it names the person that the one before has named (OpenID Connect Core 1.0 section 12.2).
    private static func check(_ token: Secret, follows former: Secret?) throws {
        guard let former = former.flatMap({ UnverifiedJWT($0) })?.subject else { return }
        guard UnverifiedJWT(token)?.subject == former else {
            throw OAuthClient.IDTokenKeys.mismatch("subject", claim: "sub")
        }
    }
}
