// What the provider tells about itself, tokens and people, and the end of tokens that a client asks for.
extension OAuthWorld {
    /// The metadata of RFC 8414 and OpenID Connect Discovery.
    func discovery(_ exchange: OAuthExchange) -> JSONValue {
        func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
        let methods = texts(SandboxOAuthClient.knownMethods)
        var metadata: JSONValue = [
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
            "grant_types_supported": texts(OAuthGrantType.allCases.map(\.wireName)),
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
        ]
        if exchange.settings.dpop != "off" {
            metadata = metadata.adding("dpop_signing_alg_values_supported", ["ES256", "RS256", "PS256", "EdDSA"])
        }
        return metadata
    }

    /// RFC 7662: what a token is, for a client that has proved itself.
    ///
    /// A look at a replaced refresh token is no use of it.
    mutating func introspect(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let form = try OAuthForm(body: exchange.request)
        _ = try authenticate(exchange, form)
        let text = try form.required("token")
        if let token = accessTokens[text], isLive(token, now: exchange.now) {
            var body: JSONValue = [
                "active": true,
                "token_type": token.keyThumbprint == nil ? "Bearer" : "DPoP",
                "scope": .string(token.scope.joined(separator: " ")),
                "client_id": .string(token.client),
                "sub": .string(token.subject),
                "iss": .string(exchange.issuer),
                "aud": .array(token.audience.map(JSONValue.string)),
                "iat": .int(token.issuedAt / 1000),
                "exp": .int(token.expiresAt / 1000),
            ]
            if let person = people[token.subject] {
                body = body.adding("username", .string(person.user.identifier))
            }
            if let actor = token.actor { body = body.adding("act", ["sub": .string(actor)]) }
            if let key = token.keyThumbprint { body = body.adding("cnf", ["jkt": .string(key)]) }
            return body
        }
        guard let token = refreshTokens[text], let family = families[token.family], family.revokedBy == nil,
            token.expiresAt > exchange.now,
            token.replacedAt.map({ exchange.now - $0 < exchange.settings.grace }) ?? true
        else { return ["active": false] }
        return [
            "active": true,
            "token_type": "refresh_token",
            "scope": .string(family.scope.joined(separator: " ")),
            "client_id": .string(family.client),
            "sub": .string(family.subject),
            "username": .optional(people[family.subject]?.user.identifier),
            "iss": .string(exchange.issuer),
            "iat": .int(token.issuedAt / 1000),
            "exp": .int(token.expiresAt / 1000),
        ]
    }

    /// RFC 7009: an access token ends alone, a refresh token with its family; a token that is not known is no error.
    mutating func revoke(_ exchange: OAuthExchange) throws(OAuthFailure) -> SandboxResponse {
        let form = try OAuthForm(body: exchange.request)
        let client = try authenticate(exchange, form)
        let text = try form.required("token")
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
        var body: JSONValue = ["sub": .string(person.id)]
        let user = person.user
        if token.scope.contains("email"), let email = user.emails.first {
            body = body.adding("email", .string(email)).adding("email_verified", true)
        }
        if token.scope.contains("profile") {
            body = body.adding("preferred_username", .string(user.identifier))
            let name = [user.firstName, user.lastName].compactMap { $0 }.joined(separator: " ")
            if !name.isEmpty { body = body.adding("name", .string(name)) }
            if let first = user.firstName { body = body.adding("given_name", .string(first)) }
            if let last = user.lastName { body = body.adding("family_name", .string(last)) }
        }
        return body
    }
}
