import HTTPRecovery

/// One request to the tenant.
struct Auth0Exchange: Sendable {
    let request: SandboxRequest
    let now: Int64
    let settings: SandboxAuth0Settings
    /// Where the tenant is, as its tokens and links say.
    let tenant: String
    /// The body, if it is JSON.
    let json: JSONValue
    /// The thumbprint of the key that its tokens are bound to; nil for none.
    var key: String?
    /// The parameters of the body, JSON or a form; a value that is no text is left out.
    private let parameters: [String: String]

    init(_ request: SandboxRequest, context: SandboxContext) {
        self.request = request
        now = context.now
        settings = context.settings.auth0
        tenant = context.origin + Auth0World.base
        var parameters: [String: String] = [:]
        let isShort = request.body.count <= OAuthForm.maximumLength
        json = isShort ? (try? JSONValue(parsing: request.body)) ?? .null : .null
        if isShort {
            if let members = json.members {
                for member in members { parameters[member.key] = member.value.string }
            } else if Masking.isForm(request) {
                for field in FormEncoding.fields(request.body) { parameters[field.name] = field.value }
            }
        }
        self.parameters = parameters
    }

    subscript(name: String) -> String? { parameters[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A parameter that has to be there.
    func required(_ name: String) throws(Auth0Failure) -> String {
        guard let value = self[name] else { throw .missing(name) }
        return value
    }

    /// The token of the `Authorization` field.
    var bearer: String? { token("bearer ") }

    /// The token of the `Authorization` field that a proof has to come with; nil for none.
    var bound: String? { settings.dpop == "off" ? nil : token("dpop ") }

    private func token(_ scheme: String) -> String? {
        guard let field = request.header("authorization"), field.lowercased().hasPrefix(scheme) else { return nil }
        return String(field.dropFirst(scheme.count))
    }

    /// Who signs in, as far as blocks are counted: the address that a confidential client names, else its own.
    var address: String {
        (settings.clientSecret == nil ? nil : request.header("auth0-forwarded-for")) ?? request.peer
    }

    /// Checks who the client is.
    func checkClient() throws(Auth0Failure) {
        if settings.clientAuthentication == "private_key_jwt" { return try checkAssertion() }
        var (id, secret) = (self["client_id"], self["client_secret"])
        if id == nil, let basic = request.header("authorization"), basic.lowercased().hasPrefix("basic "),
            let bytes = Base64.decode(basic.dropFirst(6).utf8)
        {
            let halves = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1)
            id = halves.first.map(String.init)
            secret = halves.count > 1 ? String(halves[1]) : nil
        }
        guard id == settings.clientID else { throw Auth0Failure(401, "invalid_client", "Unknown client.") }
        guard secret == settings.clientSecret || settings.clientSecret == nil else {
            throw Auth0Failure(401, "invalid_client", "Invalid client secret.")
        }
    }

    /// Checks an assertion that the client has signed with its own key; the signature itself is not verified.
    private func checkAssertion() throws(Auth0Failure) {
        let jwt = self["client_assertion"].flatMap { OAuthJWT($0) }
        let expires = (jwt?.claims["exp"]?.number?.double ?? 0) * 1000
        let isGood =
            self["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            && jwt?.isAsymmetric == true && jwt?.claims["iss"]?.string == settings.clientID
            && jwt?.claims["sub"]?.string == settings.clientID && jwt?.claims["aud"]?.string == tenant + "/"
            && jwt?.identifier("jti") != nil && (Double(now)...Double(now) + 300_000).contains(expires)
        guard isGood else { throw Auth0Failure(401, "invalid_client", "Client assertion validation failed.") }
    }
}
