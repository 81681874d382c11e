import HTTPRecovery

// Tokens of another issuer, which a rule of the tenant's takes.
extension Auth0World {
    /// The one sort of token that the rule takes: `legacy:` and a name.
    private static let legacyType = "urn:example:legacy-token"
    private static let reserved = ["urn:ietf:", "urn:auth0:", "urn:okta:", "https://auth0.com/", "http://auth0.com/"]

    /// Takes a token of another issuer; an address that presents too many that are wrong is held back.
    mutating func exchangeToken(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        let (token, type) = (try exchange.required("subject_token"), try exchange.required("subject_token_type"))
        spend("subject_token", token)
        guard !Self.reserved.contains(where: type.hasPrefix), type == Self.legacyType else {
            throw Auth0Failure(400, "invalid_request", "No profile is configured for this subject_token_type.")
        }
        let grant = try exchange.grant()
        let bucket = "exchange \(exchange.address)"
        try admit(to: bucket, .exchanges, exchange)
        let name = token.hasPrefix("legacy:") ? String(token.dropFirst("legacy:".count)) : ""
        guard let person = person(named: name) else {
            throw Auth0Failure(400, "invalid_request", "Invalid subject_token")
        }
        // Only what is wrong counts.
        buckets[bucket]?.used -= 1
        return try finish(person, grant, exchange)
    }
}
