// How a client proves who it is (RFC 6749 section 2.3, RFC 7523 section 2.2).
extension OAuthWorld {
    static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// The client that a request comes from.
    ///
    /// The signature of a `private_key_jwt` is not checked, only that there is one: a client of a sandbox has no key to
    /// register. That of a `client_secret_jwt` is.
    mutating func authenticate(
        _ exchange: OAuthExchange,
        _ form: OAuthForm
    ) throws(OAuthFailure) -> SandboxOAuthClient {
        let headers = exchange.request.headers.filter { $0.name == "authorization" }
        guard headers.count < 2 else { throw .invalidRequest("There is more than one Authorization header.") }
        let used = [headers.isEmpty, form.value("client_secret") == nil, form.value("client_assertion") == nil]
        guard used.count(where: { !$0 }) < 2 else {
            throw .invalidRequest("The client proves itself in more than one way.")
        }
        if let header = headers.first { return try authenticateBasic(header.value, form) }
        if let assertion = form.value("client_assertion") {
            return try authenticate(assertion: assertion, exchange, form)
        }
        guard let id = form.value("client_id") else { throw .invalidClient("The client does not say who it is.") }
        guard let client = clients[id] else { throw .invalidClient("The client is not known.") }
        if let secret = form.value("client_secret") {
            try check(secret: secret, of: client, by: "client_secret_post")
        } else if !client.authenticationMethods.contains("none") {
            throw .invalidClient("The client has to prove itself.")
        }
        return client
    }

    private func authenticateBasic(_ header: String, _ form: OAuthForm) throws(OAuthFailure) -> SandboxOAuthClient {
        let words = header.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "basic" else {
            throw .invalidClient("The Authorization header is not Basic.")
        }
        let plain = words[1].map { character -> Character in
            switch character {
            case "+": "-"
            case "/": "_"
            default: character
            }
        }
        let padded = String(plain)
        let text = String(padded.prefix(upTo: padded.firstIndex(of: "=") ?? padded.endIndex))
        let halves = Base64URL.decode(text)?.split(
            separator: UInt8(ascii: ":"),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        // RFC 6749 section 2.3.1: both halves are form encoded before they are put together.
        guard let halves, halves.count == 2, let id = OAuthForm.decode(halves[0]),
            let secret = OAuthForm.decode(halves[1])
        else { throw .invalidClient("The Authorization header is not well formed.") }
        guard let client = clients[id] else { throw .invalidClient("The client is not known.") }
        if let named = form.value("client_id"), named != id {
            throw .invalidClient("The Authorization header and client_id name different clients.")
        }
        if secret.isEmpty, client.authenticationMethods.contains("none") { return client }
        try check(secret: secret, of: client, by: "client_secret_basic")
        return client
    }

    private func check(secret: String, of client: SandboxOAuthClient, by method: String) throws(OAuthFailure) {
        guard client.authenticationMethods.contains(method) else {
            throw .invalidClient("The client may not use \(method).")
        }
        guard client.secret == secret else { throw .invalidClient("The client secret is wrong.") }
    }

    private mutating func authenticate(
        assertion text: String,
        _ exchange: OAuthExchange,
        _ form: OAuthForm
    ) throws(OAuthFailure) -> SandboxOAuthClient {
        guard form.value("client_assertion_type") == Self.assertionType else {
            throw .invalidRequest("client_assertion_type has to be \(Self.assertionType).")
        }
        guard let jwt = OAuthJWT(text) else { throw .invalidClient("The client assertion is not a JWT.") }
        guard let issuer = jwt.claims["iss"]?.string, jwt.claims["sub"]?.string == issuer else {
            throw .invalidClient("iss and sub of the client assertion have to be the client_id.")
        }
        guard let client = clients[issuer], form.value("client_id").map({ $0 == issuer }) ?? true else {
            throw .invalidClient("The client is not known.")
        }
        let method = jwt.header["alg"]?.string == "HS256" ? "client_secret_jwt" : "private_key_jwt"
        guard client.authenticationMethods.contains(method) else {
            throw .invalidClient("The client may not use \(method).")
        }
        if method == "client_secret_jwt" {
            let key = Array((client.secret ?? "").utf8)
            guard jwt.signature == HMAC.sha256(Array(jwt.content.utf8), key: key) else {
                throw .invalidClient("The signature of the client assertion is wrong.")
            }
        } else if !jwt.isAsymmetric || jwt.signature.isEmpty {
            throw .invalidClient("The client assertion is not signed.")
        }
        try check(audience: jwt.claims["aud"], exchange)
        guard let expires = jwt.claims["exp"]?.number, expires * 1000 > Double(exchange.now) else {
            throw .invalidClient("The client assertion has expired.")
        }
        guard expires * 1000 <= Double(exchange.now) + 3_600_000 else {
            throw .invalidClient("The client assertion is good for more than an hour.")
        }
        guard let identifier = jwt.claims["jti"]?.string, !identifier.isEmpty, identifier.utf8.count <= 256 else {
            throw .invalidClient("The client assertion has no jti.")
        }
        guard use("assertion \(issuer) \(identifier)", until: Int64(expires * 1000)) else {
            throw .invalidClient("The client assertion was used before.")
        }
        return client
    }

    /// The issuer or an endpoint of this provider, alone or in a list.
    private func check(audience: JSONValue?, _ exchange: OAuthExchange) throws(OAuthFailure) {
        let named = audience?.string.map { [$0] } ?? audience?.array?.compactMap(\.string) ?? []
        let accepted = [
            exchange.issuer, exchange.issuer + "/", exchange.url(of: .token),
            exchange.origin + exchange.request.path,
        ]
        guard named.contains(where: accepted.contains) else {
            throw .invalidClient("The client assertion is meant for somebody else.")
        }
    }
}
