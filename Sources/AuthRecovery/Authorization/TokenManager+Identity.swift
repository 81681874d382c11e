public import HTTPRecovery

extension TokenManager {
    /// What limits of the access token are kept by: the account that the token or the store names, else the token and
    /// those it has replaced; nil if there is no token.
    ///
    /// What a token claims is taken for a hint: a wrong one can only make its holder share somebody's waits.
    public var identity: PresentedCredential.Identity? {
        get async {
            guard let credentials = try? await store.read().credentials, let token = credentials.accessToken,
                !token.isEmpty
            else { return nil }
            if let account = UnverifiedJWT(token)?.account {
                return PresentedCredential.Identity(name: "account \(Fingerprint.text(of: account))")
            }
            if let name = store.identity {
                return PresentedCredential.Identity(name: "store \(Fingerprint.text(of: name))")
            }
            return lineage.identity(of: credentials)
        }
    }
}

extension UnverifiedJWT {
    /// Whom the token speaks for at whose server, by which client, as it claims; nil if it does not say.
    fileprivate var account: String? {
        guard let subject, !subject.isEmpty else { return nil }
        let client = claims["client_id"]?.string ?? claims["azp"]?.string ?? ""
        return [issuer ?? "", subject, client].joined(separator: "\n")
    }
}
