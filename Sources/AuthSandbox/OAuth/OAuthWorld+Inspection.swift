import HTTPRecovery

// What the provider tells about itself, tokens and people, and the end of tokens that a client asks for.
extension OAuthWorld {
    /// The metadata of RFC 8414 and OpenID Connect Discovery.
    func discovery(_ exchange: OAuthExchange) -> JSONValue {
        let methods: JSONValue = .texts(SandboxOAuthClient.knownMethods)
        return .present([
            "issuer": .string(exchange.issuer),
            "authorization_endpoint": .string(exchange.url(of: .authorize)),
            "token_endpoint": .string(exchange.url(of: .token)),
            "device_authorization_endpoint": .string(exchange.url(of: .device)),
            "userinfo_endpoint": .string(exchange.url(of: .userinfo)),
            "jwks_uri": .string(exchange.url(of: .keys)),
            "revocation_endpoint": .string(exchange.url(of: .revoke)),
            "introspection_endpoint": .string(exchange.url(of: .introspect)),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": .texts(OAuthGrantType.allCases.map(\.wireName)),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["HS256"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "code_challenge_methods_supported": ["S256", "plain"],
            "token_endpoint_auth_methods_supported": methods,
            "token_endpoint_auth_signing_alg_values_supported": ["HS256", "RS256", "ES256", "PS256", "EdDSA"],
            "revocation_endpoint_auth_methods_supported": methods,
            "introspection_endpoint_auth_methods_supported": methods,
            "authorization_response_iss_parameter_supported": true,
            "request_parameter_supported": false,
            "request_uri_parameter_supported": false,
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
        func answer(_ type: String, _ subject: String, _ more: KeyValuePairs<String, JSONValue?>) -> JSONValue {
            let common: KeyValuePairs<String, JSONValue?> = [
                "active": true, "token_type": .string(type), "sub": .string(subject), "iss": .string(exchange.issuer),
                "username": (people[subject]?.user.identifier).map(JSONValue.string),
            ]
            return .object((JSONValue.present(common).members ?? []) + (JSONValue.present(more).members ?? []))
        }
        if let token = accessTokens[text], isLive(token, now: exchange.now) {
            return answer(
                token.type,
                token.subject,
                [
                    "scope": .string(token.scope.joined(separator: " ")), "client_id": .string(token.client),
                    "aud": .texts(token.audience), "iat": .int(token.issuedAt / 1000),
                    "exp": .int(token.expiresAt / 1000), "act": token.actor.map { ["sub": .string($0)] },
                    "cnf": token.key.map { ["jkt": .string($0)] },
                ]
            )
        }
        guard let token = refreshTokens[text], let family = families[token.family], family.revokedBy == nil,
            token.expiresAt > exchange.now,
            token.replacedAt.map({ exchange.now - $0 < exchange.settings.grace }) ?? true
        else { return ["active": false] }
        return answer(
            "refresh_token",
            family.subject,
            [
                "scope": .string(family.scope.joined(separator: " ")), "client_id": .string(family.client),
                "iat": .int(token.issuedAt / 1000), "exp": .int(token.expiresAt / 1000),
            ]
        )
    }

    /// RFC 7009: an access token ends alone, a refresh token with its family; a token that is not known is no error.
    mutating func revoke(_ exchange: OAuthExchange) throws(OAuthFailure) -> SandboxResponse {
        let client = try authenticate(exchange)
        let text = try exchange.form.required("token")
        let access = accessTokens[text]
        let family = refreshTokens[text].flatMap { families[$0.family] }
        if let owner = access?.client ?? family?.client, owner != client.id {
            throw OAuthFailure("unauthorized_client", "The token is another client's.")
        }
        if access != nil { accessTokens[text]?.isRevoked = true }
        if let family { revokeFamily(family.number, by: "client") }
        return SandboxResponse(status: 200)
    }

    mutating func userinfo(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let token = try bearer(exchange)
        guard token.scope.contains("openid"), let person = people[token.subject] else {
            throw OAuthFailure(
                challenge: 403,
                "insufficient_scope",
                "The scope openid is needed.",
                parameters: [("scope", "openid")]
            )
        }
        let user = person.user
        let email = token.scope.contains("email") ? user.emails.first : nil
        let isNamed = token.scope.contains("profile")
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
