import HTTPRecovery

// The authorization endpoint, and what its codes are exchanged for (RFC 6749 section 4.1, RFC 7636).
extension OAuthWorld {
    mutating func authorize(_ exchange: OAuthExchange) throws(OAuthFailure) -> SandboxResponse {
        let form = exchange.form
        // Before these two are known to be good, nothing may be sent anywhere.
        guard let client = form.value("client_id").flatMap({ clients[$0] }) else {
            throw .invalidRequest("The client is not known.")
        }
        guard let redirectURI = form.value("redirect_uri") ?? client.redirectURIs.first,
            client.accepts(redirectURI: redirectURI)
        else { throw .invalidRequest("The redirect URI is not one of the client's.") }
        exchange.client = client
        var parameters: [(String, String)]
        do {
            parameters = [("code", try code(exchange))]
        } catch {
            parameters = [("error", error.code ?? "server_error"), ("error_description", error.description)]
        }
        if let state = form.value("state") { parameters.append(("state", state)) }
        parameters.append(("iss", exchange.issuer))
        let query = parameters.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
        return .redirect(to: redirectURI + (redirectURI.contains("?") ? "&" : "?") + query)
    }

    /// A code for the person whose browser it is, or the reason why there is none.
    private mutating func code(_ exchange: OAuthExchange) throws(OAuthFailure) -> String {
        let (form, client, settings) = (exchange.form, exchange.client, exchange.settings)
        guard form.value("request") == nil, form.value("request_uri") == nil else {
            throw OAuthFailure("request_not_supported", "Request objects are not understood here.")
        }
        guard try form.required("response_type") == "code" else {
            throw OAuthFailure("unsupported_response_type", "Only response_type=code is understood here.")
        }
        guard (form.value("response_mode") ?? "query") == "query" else {
            throw .invalidRequest("Only response_mode=query is understood here.")
        }
        guard client.mayUse(.authorizationCode) else { throw .unauthorized("The client may not ask for codes.") }
        let challenge = form.value("code_challenge")
        let method = form.value("code_challenge_method") ?? "plain"
        let rules: KeyValuePairs = [
            "A public client needs a code challenge.": challenge != nil || !settings.requiresPKCE || !client.isPublic,
            "This code_challenge_method is not understood here.": ["plain", "S256"].contains(method),
            "The code challenge is not well formed.": challenge.map(Self.isVerifier) ?? true,
        ]
        try OAuthFailure.demand(rules, or: OAuthFailure.invalidRequest)
        let scope = try personScopes(exchange)
        guard let name = form.value("login_hint") ?? settings.signedInUser, let person = person(named: name)
        else { throw OAuthFailure("login_required", "The client specified not to prompt, but nobody is signed in.") }
        guard settings.authorizeDecision == "approve", person.user.state == "active" else {
            throw OAuthFailure("access_denied", "The person said no.")
        }
        let code = "ac_" + random.letters(32)
        let nonce = form.value("nonce").map { String($0.prefix(500)) }
        let authentication = OAuthAuthentication(time: exchange.now, acr: exchange.acr, nonce: nonce)
        codes[code] = OAuthCode(
            grant: OAuthGrant(client: client.id, subject: person.id, scope: scope, authentication: authentication),
            redirectURI: form.value("redirect_uri"),
            challenge: challenge,
            challengeMethod: method,
            expiresAt: exchange.now + settings.codeLifetime
        )
        return code
    }

    mutating func exchangeCode(_ exchange: OAuthExchange, named name: String) throws(OAuthFailure) -> JSONValue {
        let presented = try exchange.form.required(name)
        let dead = OAuthFailure.invalidGrant("The authorization code is invalid or has expired.")
        guard let code = codes[presented], code.grant.client == exchange.client.id else { throw dead }
        if let family = code.family {
            // RFC 6749 section 4.1.2: what was made with a code that is used twice should not live on.
            revokeFamily(family, by: "code_reuse")
            throw .invalidGrant("The authorization code was used before.")
        }
        guard code.expiresAt > exchange.now else { throw dead }
        let (form, verifier) = (exchange.form, exchange.form.value("code_verifier"))
        let rules: KeyValuePairs = [
            "The redirect URI is not that of the authorization request.": code.redirectURI
                == form.value("redirect_uri"),
            // RFC 9700 section 2.1.1: a verifier without a challenge is an attempt to go around it.
            "The authorization request had no code challenge.": code.challenge != nil || verifier == nil,
            "The code verifier is missing.": code.challenge == nil || verifier != nil,
        ]
        try OAuthFailure.demand(rules, or: OAuthFailure.invalidGrant)
        if let verifier {
            guard Self.isVerifier(verifier) else { throw .invalidRequest("The code verifier is not well formed.") }
            let isPlain = code.challengeMethod == "plain"
            let proved = isPlain ? verifier : Base64.encodeForURL(SHA256.hash(Array(verifier.utf8)))
            if proved != code.challenge { throw .invalidGrant("The code verifier does not fit the code challenge.") }
        }
        let (answer, family) = signIn(code.grant, exchange)
        codes[presented]?.family = family
        return answer
    }

    /// 43 to 128 unreserved characters (RFC 7636 section 4.1).
    private static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count) && FormEncoding.encode(text) == text
    }
}
