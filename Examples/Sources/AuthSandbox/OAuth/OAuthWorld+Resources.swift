// What tokens are for (RFC 6750, RFC 9449 section 7, RFC 9470).
extension OAuthWorld {
    /// A protected resource: tells who asked, and the how-manieth request it was.
    mutating func resource(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let settings = exchange.settings
        var body: JSONValue = [
            "method": .string(exchange.request.method),
            "path": .string(String(exchange.request.path.prefix(500))),
        ]
        if settings.requiresAuthorization || exchange.request.header("authorization") != nil {
            let token = try bearer(exchange)
            let scheme = token.keyThumbprint == nil ? "Bearer" : "DPoP"
            let wanted = (settings.resourceScope ?? "").split(separator: " ").map(String.init)
            guard wanted.allSatisfy(token.scope.contains) else {
                throw OAuthFailure(
                    challenge: 403,
                    "insufficient_scope",
                    "The request needs more than the token allows.",
                    scheme: scheme,
                    parameters: [("scope", wanted.joined(separator: " "))]
                )
            }
            if let demand = settings.stepUp { try check(demand, token, scheme: scheme, now: exchange.now) }
            body = body.adding("sub", .string(token.subject))
                .adding("username", .optional(people[token.subject]?.user.identifier))
                .adding("client_id", .string(token.client))
                .adding("scope", .string(token.scope.joined(separator: " ")))
        } else {
            body = body.adding("sub", .null)
        }
        servedRequests += 1
        return body.adding("request", .int(servedRequests))
    }

    private func check(
        _ demand: SandboxOAuthSettings.StepUp,
        _ token: OAuthAccessToken,
        scheme: String,
        now: Int64
    ) throws(OAuthFailure) {
        let authentication = token.authentication
        let accepted = demand.acrValues?.split(separator: " ").map(String.init)
        let isStrong = accepted.map { list in authentication?.acr.map(list.contains) ?? false } ?? true
        let isFresh = demand.maximumAge.map { age in authentication.map { now - $0.time <= age } ?? false } ?? true
        if isStrong, isFresh { return }
        var parameters: [(String, String)] = []
        if let values = demand.acrValues { parameters.append(("acr_values", values)) }
        if let age = demand.maximumAge { parameters.append(("max_age", String(age / 1000))) }
        let isOktas = demand.form == "okta"
        throw OAuthFailure(
            challenge: isOktas ? 403 : 401,
            isOktas ? "insufficient_authentication_context" : "insufficient_user_authentication",
            "A different authentication level is required.",
            scheme: scheme,
            parameters: parameters
        )
    }

    /// The token of a request, which has to be live and sent as it should be.
    mutating func bearer(_ exchange: OAuthExchange) throws(OAuthFailure) -> OAuthAccessToken {
        let settings = exchange.settings
        let ownScheme = settings.dpop == "required" ? "DPoP" : "Bearer"
        let headers = exchange.request.headers.filter { $0.name == "authorization" }
        guard headers.count < 2 else {
            throw OAuthFailure(challenge: 400, "invalid_request", "There is more than one Authorization header.")
        }
        let words = (headers.first?.value ?? "").split(separator: " ")
        let scheme = words.first?.lowercased()
        guard scheme == "bearer" || scheme == "dpop" && settings.dpop != "off" else {
            // RFC 6750 section 3.1: a request without any credential is told no error.
            throw OAuthFailure(challenge: 401, nil, "A token is needed.", scheme: ownScheme)
        }
        guard words.count == 2 else {
            throw OAuthFailure(
                challenge: 400,
                "invalid_request",
                "The Authorization header is not well formed.",
                scheme: ownScheme
            )
        }
        let text = String(words[1])
        guard let token = accessTokens[text], isLive(token, now: exchange.now) else {
            throw OAuthFailure(
                challenge: 401,
                "invalid_token",
                "The token is expired, revoked or not known.",
                scheme: scheme == "dpop" ? "DPoP" : "Bearer"
            )
        }
        guard token.keyThumbprint != nil else {
            if scheme == "bearer" { return token }
            throw OAuthFailure(challenge: 401, "invalid_token", "The token is not bound to a key.", scheme: "DPoP")
        }
        guard scheme == "dpop" else {
            throw OAuthFailure(challenge: 401, "invalid_token", "The token is bound to a key.", scheme: "DPoP")
        }
        guard try checkProof(exchange, accessToken: text) == token.keyThumbprint else {
            throw OAuthFailure(challenge: 401, "invalid_token", "The token is bound to another key.", scheme: "DPoP")
        }
        return token
    }
}
