import AuthRecovery
import HTTPRecovery

/// A first factor.
enum Auth0Way: Sendable, Hashable {
    case password
    case passwordless(Auth0Configuration.Passwordless)
    case browser

    static let names: [String: Auth0Way] = Dictionary(
        uniqueKeysWithValues: ([.password, .browser]
            + Auth0Configuration.Passwordless.allCases.map { .passwordless($0) })
            .map { ($0.name, $0) }
    )

    /// The way that a factor stands for; nil for a second factor.
    init?(_ factor: Factor) {
        guard factor.id == nil, let way = Self.names[factor.providerName] else { return nil }
        self = way
    }

    /// Whether it can be begun by somebody who has not said who they are.
    var needsName: Bool { self != .browser && self != .passwordless(.passkey) }

    private var name: String {
        switch self {
        case .password: "password"
        case .passwordless(let way): way.rawValue
        case .browser: "browser"
        }
    }

    /// What the person chooses.
    ///
    /// - Parameter address: Where a code goes to.
    func factor(to address: String? = nil) -> Factor {
        let key: Factor.Key =
            switch self {
            case .password: .password
            case .browser: .redirect
            case .passwordless(.emailCode), .passwordless(.databaseEmailCode): .emailCode
            case .passwordless(.emailLink): .emailLink
            case .passwordless(.passkey): .webauthn
            case .passwordless: .phoneCode
            }
        return Factor(key: key, providerName: name, destination: key.isSent ? address : nil)
    }
}

extension Auth0Configuration.Passwordless {
    /// Whether the configuration says what it needs.
    func isUsable(_ configuration: Auth0Configuration) -> Bool {
        switch self {
        case .emailCode, .phoneCode, .passkey: true
        case .emailLink: configuration.redirectURI != nil
        case .databaseEmailCode, .databasePhoneCode: configuration.realm != nil
        }
    }

    /// Whether something can be sent to who has this name.
    func reaches(_ name: String) -> Bool {
        switch self {
        case .emailCode, .emailLink, .databaseEmailCode: name.utf8.contains(UInt8(ascii: "@"))
        case .phoneCode, .databasePhoneCode:
            name.utf8.count > 4 && name.utf8.first == UInt8(ascii: "+")
        // The key itself says whose it is.
        case .passkey: true
        }
    }
}

/// What was sent out in place of a password, and what its answer is compared with.
struct Auth0Errand: Sendable {
    /// What it was.
    var way = Auth0Way.browser
    /// Whom it was sent to.
    var address = ""
    /// What a code of the database and a passkey are answered with.
    var session: Secret?
    /// What a passkey's ceremony is held by.
    var options = JSONValue.null
    /// What a browser was sent out with.
    var url: Secret = ""
    var state: Secret = ""
    var nonce: Secret?
    var proofKey: OAuthClient.ProofKey?
    var redirectURI = ""

    init() {}

    init(_ way: Auth0Way, to address: String, session: Secret? = nil) {
        self.way = way
        self.address = address
        self.session = session
    }

    init(_ request: OAuthClient.AuthorizationRequest) {
        (url, state, nonce) = (Secret(request.url), request.state, request.nonce)
        (proofKey, redirectURI) = (request.proofKey, request.redirectURI)
    }

    /// The request that a browser was sent out with; a link has no key.
    func request(issuer: String?, _ random: Runtime.RandomSource) -> OAuthClient.AuthorizationRequest {
        OAuthClient.AuthorizationRequest(
            url: url.reveal(),
            state: state,
            nonce: nonce,
            proofKey: proofKey ?? OAuthClient.ProofKey(random: random),
            redirectURI: redirectURI,
            issuer: issuer,
            requiresIssuer: false
        )
    }
}

extension Auth0Way: Remembered {
    var memory: JSONValue { .string(name) }

    init?(memory: JSONValue) {
        guard let way = memory.string.flatMap({ Self.names[$0] }) else { return nil }
        self = way
    }
}

extension Auth0Errand: RememberedFields {
    static var fields: [RememberedField<Auth0Errand>] {
        [
            .init("way", \.way), .init("address", \.address), .init("session", \.session), .init("url", \.url),
            .init("options", \.options),
            .init("state", \.state), .init("nonce", \.nonce), .init("proof_key", \.proofKey),
            .init("redirect_uri", \.redirectURI),
        ]
    }
}
