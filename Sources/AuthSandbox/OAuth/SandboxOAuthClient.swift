import HTTPRecovery

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
        let usual = secret == nil ? ["none"] : ["client_secret_basic", "client_secret_post", "client_secret_jwt"]
        self.authenticationMethods = authenticationMethods ?? usual
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

extension SandboxOAuthClient: SandboxInput, Encodable {
    static let knownMethods = [
        "none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt",
    ]
    static var words: [String: [String]] {
        [
            "auth_methods": knownMethods,
            "grant_types": OAuthGrantType.allCases.map(\.rawValue) + OAuthGrantType.allCases.map(\.wireName),
        ]
    }

    enum CodingKeys: String, CodingKey {
        case id = "client_id"
        case secret = "client_secret"
        case authenticationMethods = "auth_methods"
        case redirectURIs = "redirect_uris"
        case grantTypes, scopes
    }

    /// Reads a client; only `client_id` has to be there.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            secret: try container.decodeIfPresent(String.self, forKey: .secret),
            authenticationMethods: try container.decodeIfPresent([String].self, forKey: .authenticationMethods),
            grantTypes: try container.decodeIfPresent([String].self, forKey: .grantTypes),
            scopes: try container.decodeIfPresent([String].self, forKey: .scopes)
        )
        redirectURIs = try container.decodeIfPresent([String].self, forKey: .redirectURIs) ?? redirectURIs
    }

    /// Whether it has nothing to prove itself with.
    var isPublic: Bool { authenticationMethods == ["none"] }

    /// Whether it may ask for tokens so.
    func mayUse(_ grant: OAuthGrantType) -> Bool {
        grantTypes?.contains { OAuthGrantType.shortName($0) == grant.rawValue } ?? true
    }

    /// Finds what contradicts itself.
    func check(path: String) throws(SandboxError) {
        if id.isEmpty { throw SandboxError(.invalidInput, "\(path) needs a client_id") }
        if secret?.isEmpty == true {
            throw SandboxError(.invalidInput, "\(path).client_secret must be a string that is not empty, or null")
        }
        if secret == nil, authenticationMethods.contains(where: { $0.hasPrefix("client_secret") }) {
            throw SandboxError(.invalidInput, "\(path) needs a client_secret for its auth_methods")
        }
    }

    /// Whether a code may be sent to this address.
    func accepts(redirectURI: String) -> Bool {
        let wanted = Self.withoutLoopbackPort(redirectURI)
        return redirectURIs.contains { $0 == redirectURI || Self.withoutLoopbackPort($0) == wanted }
    }

    /// The address without its port, if it stays on this machine.
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
