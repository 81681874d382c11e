/// Somebody who can sign in at the OAuth provider.
struct OAuthPerson: Sendable {
    /// The `sub` of tokens.
    let id: String
    var user: SandboxUser
}

/// What one sign-in has led to: the refresh tokens that replace one another, and the access tokens made with them.
struct OAuthFamily: Sendable {
    let number: Int
    let client: String
    let subject: String
    let scope: [String]
    let startedAt: Int64
    /// When and how the person proved who they are.
    let authentication: OAuthAuthentication
    /// The key that its refresh tokens are bound to: nil for none.
    let keyThumbprint: String?
    /// The newest refresh token; nil where none was given.
    var newest: String?
    var generation = 0
    var counters = SandboxOAuthCounters()
    /// Why it is over; nil while it is not.
    var revokedBy: String?
}

/// When and how somebody proved who they are.
struct OAuthAuthentication: Sendable, Equatable {
    var time: Int64
    var acr: String?
    var nonce: String?
}

/// One refresh token.
struct OAuthRefreshToken: Sendable {
    let family: Int
    let generation: Int
    let issuedAt: Int64
    let expiresAt: Int64
    /// When it was replaced; nil while it is the newest.
    var replacedAt: Int64?
}

/// One access token.
struct OAuthAccessToken: Sendable {
    /// In which order it was made.
    let number: Int
    /// The sign-in that it belongs to; nil for a client's own.
    let family: Int?
    let client: String
    let subject: String
    let scope: [String]
    let issuedAt: Int64
    let expiresAt: Int64
    let audience: [String]
    /// The client or person that acts for the subject.
    let actor: String?
    let keyThumbprint: String?
    let authentication: OAuthAuthentication?
    var isRevoked = false
}

/// One authorization code.
struct OAuthCode: Sendable {
    let client: String
    let subject: String
    let scope: [String]
    /// The redirect URI of the authorization request; nil where it had none.
    let redirectURI: String?
    let challenge: String?
    let challengeMethod: String
    let authentication: OAuthAuthentication
    let expiresAt: Int64
    /// What it was exchanged for.
    var family: Int?
}

/// A device that waits for its person.
struct OAuthDevice: Sendable {
    /// In which order it was made.
    let number: Int
    let userCode: String
    let client: String
    let scope: [String]
    let acr: String?
    let expiresAt: Int64
    var interval: Int64
    var lastPoll: Int64?
    var polls: Int64 = 0
    var slowDowns: Int64 = 0
    var decision: Decision = .pending

    /// What has become of it.
    enum Decision: Sendable, Equatable {
        case pending
        case approved(subject: String, at: Int64)
        case denied
        case used
    }
}

/// One request on its way through the provider.
struct OAuthExchange: Sendable {
    let request: SandboxRequest
    let route: OAuthRoute
    let now: Int64
    let settings: SandboxOAuthSettings
    /// The scheme and the authority that the request was sent to.
    let origin: String

    init(_ request: SandboxRequest, route: OAuthRoute, now: Int64, settings: SandboxOAuthSettings) {
        self.request = request
        self.route = route
        self.now = now
        self.settings = settings
        let host = request.header("host") ?? ""
        let isPlain =
            !host.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isASCII && (character.isLetter || character.isNumber || ".:-[]_".contains(character))
            }
        origin = "http://" + (isPlain ? host.lowercased() : "localhost")
    }

    /// Who the provider is; the server below `/oauth2` is the organization's own, whose issuer has no path.
    var issuer: String { origin + (route.base == "/oauth2" ? "" : route.base) }

    /// Where an endpoint of the same base is.
    func url(of endpoint: OAuthRoute.Endpoint) -> String { origin + route.path(of: endpoint) }
}

/// A JSON Web Token taken apart; nothing is believed of it yet.
struct OAuthJWT: Sendable {
    let header: JSONValue
    let claims: JSONValue
    let content: String
    let signature: [UInt8]

    /// Nil for what is not one, or longer than 16 KiB.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 16_384, parts.count == 3, let head = Base64URL.decode(String(parts[0])),
            let body = Base64URL.decode(String(parts[1])), let signature = Base64URL.decode(String(parts[2])),
            let header = try? JSONParser.parse(head), let claims = try? JSONParser.parse(body),
            case .object = header, case .object = claims
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        content = "\(parts[0]).\(parts[1])"
    }

    /// Whether it is signed with a key pair, judging by its header.
    var isAsymmetric: Bool {
        let algorithms = [
            "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
        ]
        return header["alg"]?.string.map(algorithms.contains) ?? false
    }

    static func make(type: String, claims: JSONValue, key: [UInt8]) -> String {
        let header: JSONValue = ["alg": "HS256", "typ": .string(type)]
        let content = Base64URL.encode(Array(header.text.utf8)) + "." + Base64URL.encode(Array(claims.text.utf8))
        return content + "." + Base64URL.encode(HMAC.sha256(Array(content.utf8), key: key))
    }
}
