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
            if let demand = settings.stepUp { try check(demand, token, now: exchange.now) }
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

    private func check(
        _ demand: SandboxOAuthSettings.StepUp,
        _ token: OAuthAccessToken,
        now: Int64
    ) throws(OAuthFailure) {
        let authentication = token.grant.authentication
        let accepted = demand.acrValues?.split(separator: " ").map(String.init)
        let isStrong = accepted.map { list in authentication?.acr.map(list.contains) ?? false } ?? true
        let isFresh = demand.maximumAge.map { age in authentication.map { now - $0.time <= age } ?? false } ?? true
        if isStrong, isFresh { return }
        let values = demand.acrValues.map { [("acr_values", $0)] } ?? []
        let isOktas = demand.form == "okta"
        throw OAuthFailure(
            challenge: isOktas ? 403 : 401,
            isOktas ? "insufficient_authentication_context" : "insufficient_user_authentication",
            "A different authentication level is required.",
            scheme: token.type,
            parameters: values + (demand.maximumAge.map { [("max_age", String($0 / 1000))] } ?? [])
        )
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
        // RFC 6750 section 3.1: a request without any credential is told no error.
        let isMissing = !isProved && word != "bearer"
        guard !isMissing, words.count == 2 else {
            throw OAuthFailure(
                challenge: isMissing ? 401 : 400,
                isMissing ? nil : "invalid_request",
                isMissing ? "A token is needed." : "The Authorization header is not well formed.",
                scheme: settings.dpop == "required" ? "DPoP" : "Bearer"
            )
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
