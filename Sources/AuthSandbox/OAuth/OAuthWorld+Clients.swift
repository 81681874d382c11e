import HTTPRecovery
import HTTPRecoveryTesting

// How a client proves who it is (RFC 6749 section 2.3, RFC 7523 section 2.2).
extension OAuthWorld {
    static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// The client that a request comes from.
    ///
    /// The signature of a `private_key_jwt` is not checked, only that there is one: a client of a sandbox has no key to
    /// register. That of a `client_secret_jwt` is.
    mutating func authenticate(_ exchange: OAuthExchange) throws(OAuthFailure) -> SandboxOAuthClient {
        let form = exchange.form
        let headers = exchange.request.headers.filter { $0.name == "authorization" }
        let used = [headers.first?.value, form.value("client_secret"), form.value("client_assertion")]
        let rules: KeyValuePairs = [
            "There is more than one Authorization header.": headers.count < 2,
            "The client proves itself in more than one way.": used.compactMap(\.self).count < 2,
        ]
        try OAuthFailure.demand(rules, or: OAuthFailure.invalidRequest)
        if let header = headers.first { return try authenticateBasic(header.value, form) }
        if let assertion = form.value("client_assertion") { return try authenticate(assertion, exchange) }
        guard let id = form.value("client_id") else { throw .invalidClient("The client does not say who it is.") }
        let client = try known(id)
        if let secret = form.value("client_secret") {
            try check(secret: secret, of: client, by: "client_secret_post")
        } else if !client.authenticationMethods.contains("none") {
            throw .invalidClient("The client has to prove itself.")
        }
        return client
    }

    private func known(_ id: String) throws(OAuthFailure) -> SandboxOAuthClient {
        guard let client = clients[id] else { throw .invalidClient("The client is not known.") }
        return client
    }

    private func authenticateBasic(_ header: String, _ form: OAuthForm) throws(OAuthFailure) -> SandboxOAuthClient {
        let words = header.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "basic" else {
            throw .invalidClient("The Authorization header is not Basic.")
        }
        // RFC 6749 section 2.3.1: both halves are form encoded before they are put together.
        guard let text = Base64.decode(words[1].utf8), let colon = text.firstIndex(of: UInt8(ascii: ":")),
            let id = OAuthForm.decode(text[..<colon]), let secret = OAuthForm.decode(text[(colon + 1)...])
        else { throw .invalidClient("The Authorization header is not well formed.") }
        let client = try known(id)
        if let named = form.value("client_id"), named != id {
            throw .invalidClient("The Authorization header and client_id name different clients.")
        }
        if secret.isEmpty, client.authenticationMethods.contains("none") { return client }
        try check(secret: secret, of: client, by: "client_secret_basic")
        return client
    }

    private func check(secret: String, of client: SandboxOAuthClient, by method: String) throws(OAuthFailure) {
        let rules: KeyValuePairs = [
            "The client may not use \(method).": client.authenticationMethods.contains(method),
            "The client secret is wrong.": client.secret == secret,
        ]
        try OAuthFailure.demand(rules, or: OAuthFailure.invalidClient)
    }

    private mutating func authenticate(
        _ assertion: String,
        _ exchange: OAuthExchange
    ) throws(OAuthFailure) -> SandboxOAuthClient {
        guard exchange.form.value("client_assertion_type") == Self.assertionType else {
            throw .invalidRequest("client_assertion_type has to be \(Self.assertionType).")
        }
        guard let jwt = OAuthJWT(assertion) else { throw .invalidClient("The client assertion is not a JWT.") }
        guard let issuer = jwt.claims["iss"]?.string, jwt.claims["sub"]?.string == issuer else {
            throw .invalidClient("iss and sub of the client assertion have to be the client_id.")
        }
        let client = try known(issuer)
        let isSecret = jwt.header["alg"]?.string == "HS256"
        let method = isSecret ? "client_secret_jwt" : "private_key_jwt"
        // The issuer or an endpoint of this provider, alone or in a list.
        let audience = jwt.claims["aud"]?.array?.compactMap(\.string) ?? [jwt.claims["aud"]?.string ?? ""]
        let here = [
            exchange.issuer, exchange.issuer + "/", exchange.url(of: .token), exchange.origin + exchange.request.path,
        ]
        let (now, expires) = (Double(exchange.now), (jwt.claims["exp"]?.number?.double ?? 0) * 1000)
        let identifier = jwt.identifier("jti")
        let rules: KeyValuePairs = [
            "The client is not known.": exchange.form.value("client_id") ?? issuer == issuer,
            "The client may not use \(method).": client.authenticationMethods.contains(method),
            "The client assertion is not signed as it should be.": isSecret
                ? jwt.isSigned(with: Array((client.secret ?? "").utf8)) : jwt.isAsymmetric,
            "The client assertion is meant for somebody else.": audience.contains(where: here.contains),
            "The client assertion has expired.": expires > now,
            "The client assertion is good for more than an hour.": expires <= now + 3_600_000,
            "The client assertion has no jti.": identifier != nil,
        ]
        try OAuthFailure.demand(rules, or: OAuthFailure.invalidClient)
        guard let identifier, use("assertion \(issuer) \(identifier)", until: Int64(expires)) else {
            throw .invalidClient("The client assertion was used before.")
        }
        return client
    }
}
