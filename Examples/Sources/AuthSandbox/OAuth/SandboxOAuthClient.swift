/// An application that the OAuth provider knows, as a scenario's `oauth.clients` describes one.
public struct SandboxOAuthClient: Sendable, Equatable {
    /// `client_id`.
    public var id: String
    /// `client_secret`: nil (absent or `null`) for a public client.
    public var secret: String?
    /// `auth_methods`: the ways in which it may prove itself: `none`, `client_secret_basic`, `client_secret_post`,
    /// `client_secret_jwt`, `private_key_jwt`.
    ///
    /// Default: `none` without a secret; the three with a secret otherwise.
    public var authenticationMethods: [String]
    /// `redirect_uris`: where an authorization code may go; the port of a loopback address does not count (RFC 8252
    /// section 7.3).
    public var redirectURIs: [String]
    /// `grant_types`: what it may ask tokens with; nil for everything that fits (`client_credentials` needs a proof of
    /// the client).
    public var grantTypes: [String]?
    /// `scopes`: what it may ask for; nil for anything.
    public var scopes: [String]?

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - id: Its `client_id`.
    ///   - secret: Its secret; nil for a public client.
    ///   - authenticationMethods: How it may prove itself; nil for what fits the secret.
    ///   - redirectURIs: Where a code may go. Default: `http://127.0.0.1/callback` with any port.
    ///   - grantTypes: What it may ask tokens with. Default: everything that fits.
    ///   - scopes: What it may ask for. Default: anything.
    public init(
        id: String,
        secret: String? = nil,
        authenticationMethods: [String]? = nil,
        redirectURIs: [String] = ["http://127.0.0.1/callback"],
        grantTypes: [String]? = nil,
        scopes: [String]? = nil
    ) {
        self.id = id
        self.secret = secret
        self.authenticationMethods =
            authenticationMethods
            ?? (secret == nil ? ["none"] : ["client_secret_basic", "client_secret_post", "client_secret_jwt"])
        self.redirectURIs = redirectURIs
        self.grantTypes = grantTypes
        self.scopes = scopes
    }

    /// Three clients: `cli` is public, `service` has the secret `service-secret`, `robot` proves itself with
    /// `private_key_jwt`.
    public static var defaults: [SandboxOAuthClient] {
        let redirectURIs = ["http://127.0.0.1/callback", "http://localhost/callback", "com.example.cli:/callback"]
        return [
            SandboxOAuthClient(id: "cli", redirectURIs: redirectURIs),
            SandboxOAuthClient(id: "service", secret: "service-secret", redirectURIs: redirectURIs),
            SandboxOAuthClient(id: "robot", authenticationMethods: ["private_key_jwt"], redirectURIs: redirectURIs),
        ]
    }
}

extension SandboxOAuthClient {
    static let knownMethods = [
        "none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt",
    ]

    /// Whether it has nothing to prove itself with.
    var isPublic: Bool { authenticationMethods == ["none"] }

    /// Reads one client out of a scenario.
    init(json: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(json, path: path)
        guard let id = try reader.string("client_id"), !id.isEmpty else {
            throw SandboxError(.invalidInput, "\(path) needs a client_id")
        }
        var secret: String?
        if let value = reader.value("client_secret"), value != .null {
            guard let text = value.string, !text.isEmpty else {
                throw reader.wrong("client_secret", "a string that is not empty, or null")
            }
            secret = text
        }
        let methods = try reader.strings("auth_methods")
        self.init(id: id, secret: secret, authenticationMethods: methods)
        redirectURIs = try reader.strings("redirect_uris") ?? redirectURIs
        grantTypes = try reader.strings("grant_types").map { $0.map(OAuthGrantType.shortName) }
        scopes = try reader.strings("scopes")
        try reader.finish()
        try check(path: path)
    }

    /// Finds what contradicts itself.
    func check(path: String) throws(SandboxError) {
        for method in authenticationMethods where !Self.knownMethods.contains(method) {
            let known = Self.knownMethods.joined(separator: ", ")
            throw SandboxError(.invalidInput, "\(path).auth_methods: \"\(method)\" is none of \(known)")
        }
        if secret == nil, authenticationMethods.contains(where: { $0.hasPrefix("client_secret") }) {
            throw SandboxError(.invalidInput, "\(path) needs a client_secret for its auth_methods")
        }
        for grant in grantTypes ?? [] where OAuthGrantType(name: grant) == nil {
            let known = OAuthGrantType.allCases.map(\.rawValue).joined(separator: ", ")
            throw SandboxError(.invalidInput, "\(path).grant_types: \"\(grant)\" is none of \(known)")
        }
    }

    /// Whether a code may be sent to this address.
    func accepts(redirectURI: String) -> Bool {
        let wanted = Self.withoutLoopbackPort(redirectURI)
        return redirectURIs.contains { $0 == redirectURI || Self.withoutLoopbackPort($0) == wanted }
    }

    /// The address without its port where it stays on this machine.
    private static func withoutLoopbackPort(_ uri: String) -> String {
        for host in ["http://127.0.0.1", "http://localhost", "http://[::1]"] where uri.hasPrefix(host + ":") {
            let rest = uri.dropFirst(host.count + 1)
            let port = rest.prefix { $0.isASCII && $0.isNumber }
            let path = rest.dropFirst(port.count)
            if !port.isEmpty, port.count <= 5, path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") {
                return host + path
            }
        }
        return uri
    }
}
