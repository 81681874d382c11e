public import HTTPRecovery

extension OAuthServer: Redacted {
    /// The issuer, or what is known in its place; no URL, since a query may hold a key.
    public var description: String {
        "OAuthServer(\(issuer ?? "endpoints given by hand"))"
    }
}
