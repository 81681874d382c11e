/// Which endpoint of the OAuth provider a path is, and below which base.
struct OAuthRoute: Sendable, Equatable {
    /// The endpoints.
    enum Endpoint: Sendable {
        case discovery
        case keys
        case token
        case revoke
        case introspect
        case device
        case activate
        case authorize
        case userinfo
        case resource

        /// Whether its refusals are bearer challenges instead of error words in a body.
        var isResource: Bool { self == .resource || self == .userinfo }

        /// The methods that it takes; nil for all.
        var methods: [String]? {
            switch self {
            case .discovery, .keys: ["GET", "HEAD"]
            case .token, .revoke, .introspect, .device: ["POST"]
            case .activate, .authorize, .userinfo: ["GET", "POST"]
            case .resource: nil
            }
        }
    }

    let endpoint: Endpoint
    /// What stands before the endpoint: nothing, `/oauth2` or `/oauth2/default`.
    let base: String

    /// The endpoint that a path is; nil for one of somebody else.
    static func find(_ path: String) -> OAuthRoute? {
        guard path.utf8.count <= 4096 else { return nil }
        var parts = path.split(separator: "/").map(String.init)
        if parts.first == ".well-known", parts.count > 2 {
            // RFC 8414 section 3.1: the well-known part stands before the issuer's path.
            parts = Array(parts[2...] + parts[..<2])
            guard parts.first == "oauth2" else { return nil }
        }
        var base = ""
        if parts.starts(with: ["oauth2", "default"]) {
            base = "/oauth2/default"
        } else if parts.first == "oauth2" {
            base = "/oauth2"
        }
        let name = parts.dropFirst(base.split(separator: "/").count).joined(separator: "/")
        if let endpoint = common[name] ?? (base.isEmpty ? nil : versioned[name]) {
            return OAuthRoute(endpoint: endpoint, base: base)
        }
        guard base.isEmpty, parts.first == "api" || name == "resource" else { return nil }
        return OAuthRoute(endpoint: .resource, base: "")
    }

    private static let common: [String: Endpoint] = [
        ".well-known/openid-configuration": .discovery, ".well-known/oauth-authorization-server": .discovery,
        "oauth/keys": .keys, "oauth/token": .token, "oauth/revoke": .revoke, "oauth/introspect": .introspect,
        "oauth/device": .device, "activate": .activate, "authorize": .authorize, "oauth/authorize": .authorize,
        "userinfo": .userinfo, "oauth/userinfo": .userinfo,
    ]

    private static let versioned: [String: Endpoint] = [
        "v1/keys": .keys, "v1/token": .token, "v1/revoke": .revoke, "v1/introspect": .introspect,
        "v1/device/authorize": .device, "v1/authorize": .authorize, "v1/userinfo": .userinfo,
    ]

    /// The path under which discovery tells of an endpoint.
    func path(of endpoint: Endpoint) -> String {
        let names: (plain: String, versioned: String) =
            switch endpoint {
            case .discovery: (".well-known/openid-configuration", ".well-known/openid-configuration")
            case .keys: ("oauth/keys", "v1/keys")
            case .token: ("oauth/token", "v1/token")
            case .revoke: ("oauth/revoke", "v1/revoke")
            case .introspect: ("oauth/introspect", "v1/introspect")
            case .device: ("oauth/device", "v1/device/authorize")
            case .activate: ("activate", "activate")
            case .authorize: ("authorize", "v1/authorize")
            case .userinfo: ("userinfo", "v1/userinfo")
            case .resource: ("resource", "resource")
            }
        return base.isEmpty ? "/\(names.plain)" : "\(base)/\(names.versioned)"
    }
}
