import AuthRecovery
import HTTPRecovery

/// Exchanges a token for one that lives longer (`fb_exchange_token`), which works only while the old one does.
///
/// There are no refresh tokens: what has expired or was refused, only a sign-in replaces.
struct FacebookExchange: TokenRenewer {
    let api: GraphAPI

    /// The token is not used up by it.
    var reuse: RefreshTokenGrant.Reuse { .reusable }

    func canRenew(_ credentials: Credentials) -> Bool {
        guard api.app.secret != nil, let token = credentials.accessToken, !token.isEmpty else { return false }
        return credentials.expiresAt.map { $0 > api.client.runtime.time.wallTime } ?? true
    }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let api = api.within(operation)
        guard let token = credentials.accessToken, let secret = api.app.secret else { throw RecoveryError.signedOut }
        var query: FormFields = ["grant_type": "fb_exchange_token", "client_id": api.app.id]
        query.add("client_secret", secret: secret)
        query.add("fb_exchange_token", secret: token)
        do {
            let answer = try await api.tokens(
                GraphAPI.Call(
                    path: "oauth/access_token",
                    query: query,
                    token: .none,
                    resend: .replayable,
                    presents: .access
                )
            )
            var renewed = credentials.taking(answer)
            // Who has signed in, nobody attests anew.
            renewed.idToken = credentials.idToken
            return renewed
        } catch let error as RecoveryError where error.isDefiniteRefusal {
            if let version = credentials.version(of: .access), try await api.settle(error, version: version) {
                operation.emit(.clear(.access))
            }
            throw error
        } catch let error as RecoveryError where error.kind == .credentialRejected {
            throw error.inDoubt
        }
    }
}
