import HTTPRecovery
import HTTPRecoveryTesting

// What tokens are for (RFC 6750, RFC 9449 section 7, RFC 9470).
extension OAuthWorld {
    /// A protected resource: tells who asked, and the how-manieth request it was.
    mutating func resource(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let settings = exchange.settings
        var grant: OAuthGrant?
        if settings.requiresAuthorization || exchange.request.header("authorization") != nil {
            let token = try bearer(exchange)
            let wanted = (settings.resourceScope ?? "").split(separator: " ").map(String.init)
            guard wanted.allSatisfy(token.grant.scope.contains) else {
                throw OAuthFailure(
                    challenge: 403,
                    "insufficient_scope",
                    "The request needs more than the token allows.",
                    scheme: token.type,
                    parameters: [("scope", wanted.joined(separator: " "))]
                )
            }
            try settings.stepUp?.check(token, now: exchange.now)
            grant = token.grant
        }
        servedRequests += 1
        return .present([
            "method": .string(exchange.request.method),
            "path": .string(String(exchange.request.path.prefix(500))),
            "sub": .optional(grant?.subject),
            "username": grant.map { .optional(people[$0.subject]?.user.identifier) },
            "client_id": grant.map { .string($0.client) },
            "scope": grant.map { .string($0.scope.joined(separator: " ")) },
            "request": .int(servedRequests),
        ])
    }

    /// The token of a request, which has to be live and sent as it should be.
    mutating func bearer(_ exchange: OAuthExchange) throws(OAuthFailure) -> OAuthAccessToken {
        let settings = exchange.settings
        let headers = exchange.request.headers.filter { $0.name == "authorization" }
        guard headers.count < 2 else {
            throw OAuthFailure(challenge: 400, "invalid_request", "There is more than one Authorization header.")
        }
        let words = (headers.first?.value ?? "").split(separator: " ")
        let word = words.first?.lowercased()
        let isProved = word == "dpop" && settings.dpop != "off"
        let usual = settings.dpop == "required" ? "DPoP" : "Bearer"
        guard isProved || word == "bearer" else {
            // RFC 6750 section 3.1: a request without any credential is told no error.
            throw OAuthFailure(challenge: 401, nil, "A token is needed.", scheme: usual)
        }
        guard words.count == 2 else {
            let text = "The Authorization header is not well formed."
            throw OAuthFailure(challenge: 400, "invalid_request", text, scheme: usual)
        }
        let (text, scheme) = (String(words[1]), isProved ? "DPoP" : "Bearer")
        func refusal(_ description: String, _ scheme: String = "DPoP") -> OAuthFailure {
            OAuthFailure(challenge: 401, "invalid_token", description, scheme: scheme)
        }
        guard let token = liveAccessToken(text, exchange) else {
            throw refusal("The token is expired, revoked or not known.", scheme)
        }
        guard token.type == scheme else {
            throw refusal(isProved ? "The token is not bound to a key." : "The token is bound to a key.")
        }
        if isProved {
            let key = try checkProof(exchange, accessToken: text)
            guard key == token.key else { throw refusal("The token is bound to another key.") }
        }
        return token
    }
}

extension SandboxOAuthSettings.StepUp {
    /// Refuses a token whose sign-in is not strong or fresh enough.
    fileprivate func check(_ token: OAuthAccessToken, now: Int64) throws(OAuthFailure) {
        let authentication = token.grant.authentication
        let accepted = acrValues?.split(separator: " ").map(String.init)
        let isStrong = accepted.map { list in authentication?.acr.map(list.contains) ?? false } ?? true
        let isFresh = maximumAge.map { age in authentication.map { now - $0.time <= age } ?? false } ?? true
        if isStrong, isFresh { return }
        let values = acrValues.map { [("acr_values", $0)] } ?? []
        throw OAuthFailure(
            challenge: form == "okta" ? 403 : 401,
            form == "okta" ? "insufficient_authentication_context" : "insufficient_user_authentication",
            "A different authentication level is required.",
            scheme: token.type,
            parameters: values + (maximumAge.map { [("max_age", String($0 / 1000))] } ?? [])
        )
    }
}
