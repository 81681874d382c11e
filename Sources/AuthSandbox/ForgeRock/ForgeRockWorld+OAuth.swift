import HTTPRecovery
import HTTPRecoveryTesting

// The OAuth 2 side of a realm: an OAuth provider of its own, whose codes are given to those who have a session.
extension ForgeRockWorld {
    mutating func answerOAuth(
        _ exchange: ForgeRockExchange,
        _ endpoint: ForgeRockRoute.OAuthEndpoint,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        guard exchange.settings.hasRealm(exchange.realm) else {
            return OAuthFailure("not_found", "The realm is not known.", status: 404).response
        }
        let request = exchange.request
        switch endpoint {
        case .authorize: return authorize(exchange, context: &context)
        case .token: return answerOAuth(exchange, as: .token, request: request, context: &context)
        case .revoke: return answerOAuth(exchange, as: .revoke, request: request, context: &context)
        case .userinfo: return answerOAuth(exchange, as: .userinfo, request: request, context: &context)
        case .introspect: return answerOAuth(exchange, as: .introspect, request: request, context: &context)
        case .keys: return .json(["keys": RSASigning.publicKeys(isHidden: context.settings.oauth.hidesKey)])
        case .discovery: return .json(discovery(exchange, context.settings.oauth.idTokenAlgorithm))
        case .endSession: return endSession(exchange)
        case .unknown: return OAuthFailure("not_found", "There is no such endpoint.", status: 404).response
        }
    }

    /// Hands a request to the provider; nothing but the grace for refresh tokens is PingAM's own.
    mutating func answerOAuth(
        _ exchange: ForgeRockExchange,
        as endpoint: OAuthEndpoint,
        request: SandboxRequest,
        context: inout SandboxContext,
        decision: String = "approve"
    ) -> SandboxResponse {
        var inner = context
        inner.settings.oauth.grace = exchange.settings.refreshGrace
        inner.settings.oauth.authorizeDecision = decision
        return oauth.answer(request, OAuthRoute(endpoint: endpoint, base: base(exchange)), context: &inner)
    }

    private func base(_ exchange: ForgeRockExchange) -> String {
        let names = ["root"] + exchange.realm.split(separator: "/").map(String.init)
        return exchange.route.base + "/oauth2" + names.map { "/realms/\($0)" }.joined()
    }

    /// A code for the session that the cookie names; without one the way to the sign-in.
    private mutating func authorize(
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) -> SandboxResponse {
        let request = exchange.request
        let isPost = request.method == "POST"
        if isPost, !Masking.isForm(request) || request.body.count > OAuthForm.maximumLength {
            return OAuthFailure.invalidRequest("The body has to be application/x-www-form-urlencoded.").response
        }
        var fields = request.query + (isPost ? FormEncoding.fields(request.body) : [])
        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        guard let token = exchange.sessionToken, let session = use(token, exchange) else {
            if field("prompt") == "none" {
                // Nobody is signed in: the provider says so, at the redirect URI.
                return forward(fields.filter { $0.name != "login_hint" }, exchange, "approve", context: &context)
            }
            let location = "\(exchange.deployment)/?realm=\(FormEncoding.encode(exchange.realm))&goto=authorize"
            return SandboxResponse(status: 302, headers: [.init(name: "Location", value: location)])
        }
        if isPost, field("csrf") != token {
            return OAuthFailure("access_denied", "The csrf parameter does not fit the session.", status: 400).response
        }
        let decision = isPost && field("decision") != "allow" ? "deny" : "approve"
        fields.removeAll { ["login_hint", "csrf", "decision"].contains($0.name) }
        let name = accounts[session.account]?.name ?? ""
        fields.append(FormEncoding.Field(name: "login_hint", value: name))
        return forward(fields, exchange, decision, context: &context)
    }

    private mutating func forward(
        _ fields: [FormEncoding.Field],
        _ exchange: ForgeRockExchange,
        _ decision: String,
        context: inout SandboxContext
    ) -> SandboxResponse {
        let query = fields.map { "\(FormEncoding.encode($0.name))=\(FormEncoding.encode($0.value))" }
        var request = exchange.request
        request.method = "GET"
        request.query = FormEncoding.fields(Array(query.joined(separator: "&").utf8))
        return answerOAuth(exchange, as: .authorize, request: request, context: &context, decision: decision)
    }

    /// Ends the sessions in the realm of the person whom an ID token names (OpenID Connect RP-Initiated Logout).
    private mutating func endSession(_ exchange: ForgeRockExchange) -> SandboxResponse {
        let request = exchange.request
        let fields = request.query + (Masking.isForm(request) ? FormEncoding.fields(request.body) : [])
        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        guard let hint = field("id_token_hint") else {
            return OAuthFailure("bad_request", "The request is missing a required parameter: id_token_hint").response
        }
        if let target = field("post_logout_redirect_uri"), !target.contains("://") {
            return OAuthFailure("relative_redirect_uri", "The address has to be absolute.").response
        }
        guard let jwt = OAuthJWT(hint) else {
            return OAuthFailure("server_error", "The id_token_hint cannot be read.", status: 500).response
        }
        guard oauth.hasSigned(jwt), let name = jwt.claims["sub"]?.string else {
            return OAuthFailure.invalidRequest("The id_token_hint is not one of this provider.").response
        }
        _ = endSessions(of: name, realm: exchange.realm)
        guard let target = field("post_logout_redirect_uri") else { return SandboxResponse(status: 204) }
        guard let client = jwt.claims["aud"]?.string.flatMap({ oauth.clients[$0] }),
            client.accepts(redirectURI: target)
        else { return OAuthFailure("redirect_uri_mismatch", "The address is not one of the client's.").response }
        let state = field("state").map {
            "\(target.contains("?") ? "&" : "?")state=\(FormEncoding.encode($0))"
        }
        return SandboxResponse(status: 302, headers: [.init(name: "Location", value: target + (state ?? ""))])
    }

    private func discovery(_ exchange: ForgeRockExchange, _ algorithm: String) -> JSONValue {
        let issuer = exchange.origin + base(exchange)
        func url(_ endpoint: ForgeRockRoute.OAuthEndpoint) -> JSONValue { .string("\(issuer)/\(endpoint.rawValue)") }
        return [
            "issuer": .string(issuer),
            "authorization_endpoint": url(.authorize),
            "token_endpoint": url(.token),
            "revocation_endpoint": url(.revoke),
            "userinfo_endpoint": url(.userinfo),
            "introspection_endpoint": url(.introspect),
            "end_session_endpoint": url(.endSession),
            "jwks_uri": url(.keys),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(algorithm)],
            "code_challenge_methods_supported": ["S256", "plain"],
        ]
    }
}
