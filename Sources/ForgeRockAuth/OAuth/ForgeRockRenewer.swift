import AuthRecovery
import HTTPRecovery

/// Renews tokens with the refresh token, and if that is definitely refused with the session.
///
/// An outage on either way ends the renewal and clears nothing.
struct ForgeRockRenewer: TokenRenewer {
    let oauth: ForgeRockOAuth

    var reuse: RefreshTokenGrant.Reuse { oauth.settings.reuse }

    func canRenew(_ credentials: Credentials) -> Bool {
        credentials.refreshToken.map { !$0.isEmpty } ?? false || credentials.ssoToken.map { !$0.isEmpty } ?? false
    }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let oauth = oauth.within(operation)
        var present = credentials
        if let token = credentials.refreshToken, !token.isEmpty {
            do {
                return try await oauth.refresh(credentials, in: operation)
            } catch let error as RecoveryError
                where error.kind == .credentialRejected && credentials.ssoToken?.isEmpty == false
            {
                // The session may still be good for new tokens; the refresh token goes with their arrival.
                present.remove(.refresh)
            }
        }
        guard let session = credentials.ssoToken, !session.isEmpty else { throw RecoveryError.signedOut }
        let answer = try await oauth.exchange(session)
        var credentials = answer.merged(into: present)
        credentials.idToken = answer.idToken
        return credentials
    }
}
