import HTTPRecovery

// What the provider tells about itself, tokens and people, and the end of tokens that a client asks for.
extension OAuthWorld {
    /// The metadata of RFC 8414 and OpenID Connect Discovery.
    func discovery(_ exchange: OAuthExchange) -> JSONValue {
        func url(_ endpoint: OAuthEndpoint) -> JSONValue { .string(exchange.url(of: endpoint)) }
        let methods: JSONValue = .texts(SandboxOAuthClient.knownMethods)
        return .present([
            "issuer": .string(exchange.issuer),
            "authorization_endpoint": url(.authorize), "token_endpoint": url(.token),
            "device_authorization_endpoint": url(.device), "userinfo_endpoint": url(.userinfo), "jwks_uri": url(.keys),
            "revocation_endpoint": url(.revoke), "introspection_endpoint": url(.introspect),
            "response_types_supported": ["code"], "response_modes_supported": ["query"],
            "grant_types_supported": .texts(
                OAuthGrantType.allCases.filter { $0 != .interactionCode }.map(\.wireName)
            ),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(exchange.settings.idTokenAlgorithm)],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "code_challenge_methods_supported": ["S256", "plain"],
            "token_endpoint_auth_methods_supported": methods,
            "token_endpoint_auth_signing_alg_values_supported": ["HS256", "RS256", "ES256", "PS256", "EdDSA"],
            "revocation_endpoint_auth_methods_supported": methods,
            "introspection_endpoint_auth_methods_supported": methods,
            "authorization_response_iss_parameter_supported": true,
            "request_parameter_supported": false, "request_uri_parameter_supported": false,
            "dpop_signing_alg_values_supported":
                exchange.settings.dpop == "off" ? nil : ["ES256", "RS256", "PS256", "EdDSA"],
        ])
    }

    /// RFC 7662: what a token is, for a client that has proved itself.
    ///
    /// A look at a replaced refresh token is no use of it.
    mutating func introspect(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        _ = try authenticate(exchange)
        let text = try exchange.form.required("token")
        let access = liveAccessToken(text, exchange)
        let refresh = liveRefreshToken(text, grace: exchange.settings.grace, exchange)
        guard let grant = access?.grant ?? refresh?.family.grant else { return ["active": false] }
        return .present([
            "active": true, "token_type": .string(access?.type ?? "refresh_token"),
            "sub": .string(grant.subject), "iss": .string(exchange.issuer),
            "username": (people[grant.subject]?.user.identifier).map(JSONValue.string),
            "scope": .string(grant.scope.joined(separator: " ")),
            "client_id": .string(grant.client),
            "aud": access.map { .texts($0.audience) },
            "iat": (access?.issuedAt ?? refresh?.token.issuedAt).map { .int($0 / 1000) },
            "exp": (access?.expiresAt ?? refresh?.token.expiresAt).map { .int($0 / 1000) },
            "act": (access?.actor).map { ["sub": .string($0)] },
            "cnf": (access?.key).map { ["jkt": .string($0)] },
        ])
    }

    /// RFC 7009: an access token ends alone, a refresh token with its family; a token that is not known is no error.
    mutating func revoke(_ exchange: OAuthExchange) throws(OAuthFailure) -> SandboxResponse {
        let client = try authenticate(exchange)
        let text = try exchange.form.required("token")
        let (access, family) = (accessTokens[text], refreshTokens[text].flatMap { families[$0.family] })
        if let owner = (access?.grant ?? family?.grant)?.client, owner != client.id {
            throw .unauthorized("The token is another client's.")
        }
        if access != nil { accessTokens[text]?.isRevoked = true }
        if let family { revokeFamily(family.number, by: "client") }
        return SandboxResponse(status: 200)
    }

    mutating func userinfo(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let grant = try bearer(exchange).grant
        guard grant.scope.contains("openid"), let person = people[grant.subject] else {
            let parameters = [("scope", "openid")]
            let text = "The scope openid is needed."
            throw OAuthFailure(challenge: 403, "insufficient_scope", text, parameters: parameters)
        }
        let user = person.user
        let email = grant.scope.contains("email") ? user.emails.first : nil
        let isNamed = grant.scope.contains("profile")
        let name = [user.firstName, user.lastName].compactMap(\.self).joined(separator: " ")
        return .present([
            "sub": .string(person.id),
            "email": email.map(JSONValue.string),
            "email_verified": email.map { _ in true },
            "preferred_username": isNamed ? .string(user.identifier) : nil,
            "name": isNamed && !name.isEmpty ? .string(name) : nil,
            "given_name": isNamed ? user.firstName.map(JSONValue.string) : nil,
            "family_name": isNamed ? user.lastName.map(JSONValue.string) : nil,
        ])
    }
}
