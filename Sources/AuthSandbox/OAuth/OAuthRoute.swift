import HTTPRecovery

/// An endpoint of the OAuth provider.
enum OAuthEndpoint: Sendable, CaseIterable {
    case discovery, keys, token, revoke, introspect, device, activate, authorize, userinfo, resource

    /// The paths, of which discovery tells the first; the one below `/oauth2` beside them; the methods, empty for all.
    private var row: (paths: [String], versioned: String?, methods: [String]) {
        switch self {
        case .discovery:
            ([".well-known/openid-configuration", ".well-known/oauth-authorization-server"], nil, ["GET", "HEAD"])
        case .keys: (["oauth/keys"], "v1/keys", ["GET", "HEAD"])
        case .token: (["oauth/token"], "v1/token", ["POST"])
        case .revoke: (["oauth/revoke"], "v1/revoke", ["POST"])
        case .introspect: (["oauth/introspect"], "v1/introspect", ["POST"])
        case .device: (["oauth/device"], "v1/device/authorize", ["POST"])
        case .activate: (["activate"], nil, ["GET", "POST"])
        case .authorize: (["authorize", "oauth/authorize"], "v1/authorize", ["GET", "POST"])
        case .userinfo: (["userinfo", "oauth/userinfo"], "v1/userinfo", ["GET", "POST"])
        case .resource: (["resource"], nil, [])
        }
    }

    var paths: [String] { row.paths }
    var versioned: String? { row.versioned }
    var methods: [String] { row.methods }
    /// Whether its parameters stand in a form, or in the query of a GET.
    var takesForm: Bool { methods == ["POST"] || self == .authorize }
    /// Whether its refusals are bearer challenges instead of error words in a body.
    var isResource: Bool { self == .resource || self == .userinfo }
}

/// Which endpoint a path is, and below which base.
struct OAuthRoute: Sendable, Equatable {
    let endpoint: OAuthEndpoint
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
        let bases = [["oauth2", "default"], ["oauth2"], []]
        let base = bases.first { parts.starts(with: $0) } ?? []
        let name = parts.dropFirst(base.count).joined(separator: "/")
        let found = OAuthEndpoint.allCases.first { endpoint in
            if endpoint == .resource { return base.isEmpty && (parts.first == "api" || name == "resource") }
            return endpoint.paths.contains(name) || !base.isEmpty && endpoint.versioned == name
        }
        return found.map { OAuthRoute(endpoint: $0, base: base.map { "/" + $0 }.joined()) }
    }

    /// The path under which discovery tells of an endpoint.
    func path(of endpoint: OAuthEndpoint) -> String {
        "\(base)/\((base.isEmpty ? nil : endpoint.versioned) ?? endpoint.paths[0])"
    }
}
