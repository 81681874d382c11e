import HTTPRecovery

// Tokens of other providers, which a tenant keeps for people who have connected an account there.
extension Auth0World {
    static let connectionGrant = "urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token"
    private static let connectionType = "http://auth0.com/oauth/token-type/federated-connection-access-token"

    /// Shows the app a token of another provider's; what it is shown for that is not spent.
    mutating func connectionToken(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        let subject = try exchange.required("subject_token")
        let connection = try exchange.required("connection")
        guard try exchange.required("requested_token_type") == Self.connectionType else {
            throw Auth0Failure(400, "invalid_request", "The requested_token_type is not supported.")
        }
        let person = try owner(of: subject, type: try exchange.required("subject_token_type"), exchange)
        try admit(person)
        guard person.user.auth0.connections.contains(connection) else {
            throw Auth0Failure(
                401,
                "federated_connection_refresh_token_not_found",
                "Federated connection Refresh Token not found."
            )
        }
        if person.user.auth0.isConnectionLost {
            throw Auth0Failure(
                401,
                "federated_connection_refresh_token_flow_failed",
                "Federated connection Refresh Token flow failed."
            )
        }
        return [
            "access_token": .string("ya29." + random.letters(40)), "scope": "openid email", "expires_in": 3599,
            "issued_token_type": .string(Self.connectionType), "token_type": "Bearer",
        ]
    }

    private mutating func owner(
        of token: String,
        type: String,
        _ exchange: Auth0Exchange
    ) throws(Auth0Failure) -> Person {
        switch type {
        case "urn:ietf:params:oauth:token-type:refresh_token":
            // One that was replaced ends its family, as at a renewal.
            let family = try tokens.family(of: token, exchange)
            guard !exchange.settings.rotates else {
                throw Auth0Failure(400, "invalid_request", "Refresh token rotation has to be off for this grant.")
            }
            guard let person = people[family.person] else { throw .deadRefreshToken }
            return person
        case "urn:ietf:params:oauth:token-type:access_token":
            guard let access = tokens.access(token, now: exchange.now), let person = people[access.person] else {
                throw Auth0Failure(401, "invalid_token", "The access token is not valid.")
            }
            return person
        default: throw Auth0Failure(400, "invalid_request", "The subject_token_type is not supported.")
        }
    }
}
