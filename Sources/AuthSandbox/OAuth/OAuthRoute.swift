import HTTPRecovery

/// An endpoint of the OAuth provider: a row of the table by which requests are routed.
struct OAuthEndpoint: Sendable, Equatable {
    /// The paths, of which discovery tells the first.
    let paths: [String]
    /// The path below `/oauth2`, beside the others; nil for the first of them.
    let versioned: String?
    /// The methods that it takes; empty for all.
    let methods: [String]
    /// Whether its parameters stand in a form, or in the query of a GET.
    let takesForm: Bool
    let answer:
        @Sendable (inout OAuthWorld, OAuthExchange, inout SandboxContext) throws(OAuthFailure) -> SandboxResponse

    init(
        _ paths: [String],
        _ versioned: String? = nil,
        _ methods: [String] = [],
        takesForm: Bool = false,
        answer:
            @escaping @Sendable (inout OAuthWorld, OAuthExchange, inout SandboxContext) throws(OAuthFailure) ->
            SandboxResponse
    ) {
        self.paths = paths
        self.versioned = versioned
        self.methods = methods
        self.takesForm = takesForm
        self.answer = answer
    }

    static func == (one: OAuthEndpoint, other: OAuthEndpoint) -> Bool { one.paths == other.paths }

    /// Whether its refusals are bearer challenges instead of error words in a body.
    var isResource: Bool { self == .resource || self == .userinfo }

    static let discovery = OAuthEndpoint(
        [".well-known/openid-configuration", ".well-known/oauth-authorization-server"],
        nil,
        ["GET", "HEAD"]
    ) { world, exchange, _ in .json(world.discovery(exchange)) }
    static let keys = OAuthEndpoint(["oauth/keys"], "v1/keys", ["GET", "HEAD"]) { _, _, _ in .json(["keys": []]) }
    static let token = OAuthEndpoint(["oauth/token"], "v1/token", ["POST"], takesForm: true) {
        world,
        exchange,
        _ throws(OAuthFailure) in .json(try world.token(exchange))
    }
    static let revoke = OAuthEndpoint(["oauth/revoke"], "v1/revoke", ["POST"], takesForm: true) {
        world,
        exchange,
        _ throws(OAuthFailure) in try world.revoke(exchange)
    }
    static let introspect = OAuthEndpoint(["oauth/introspect"], "v1/introspect", ["POST"], takesForm: true) {
        world,
        exchange,
        _ throws(OAuthFailure) in .json(try world.introspect(exchange))
    }
    static let device = OAuthEndpoint(["oauth/device"], "v1/device/authorize", ["POST"], takesForm: true) {
        world,
        exchange,
        context throws(OAuthFailure) in .json(try world.authorizeDevice(exchange, context: &context))
    }
    static let activate = OAuthEndpoint(["activate"], nil, ["GET", "POST"]) {
        world,
        exchange,
        _ throws(OAuthFailure) in try world.activate(exchange)
    }
    static let authorize = OAuthEndpoint(
        ["authorize", "oauth/authorize"],
        "v1/authorize",
        ["GET", "POST"],
        takesForm: true
    ) { world, exchange, _ throws(OAuthFailure) in try world.authorize(exchange) }
    static let userinfo = OAuthEndpoint(["userinfo", "oauth/userinfo"], "v1/userinfo", ["GET", "POST"]) {
        world,
        exchange,
        _ throws(OAuthFailure) in .json(try world.userinfo(exchange))
    }
    static let resource = OAuthEndpoint(["resource"]) {
        world,
        exchange,
        _ throws(OAuthFailure) in .json(try world.resource(exchange))
    }

    static let all = [discovery, keys, token, revoke, introspect, device, activate, authorize, userinfo, resource]
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
        let isResource = base.isEmpty ? parts.first == "api" || name == "resource" : false
        let found = OAuthEndpoint.all.first { endpoint in
            if endpoint == .resource { return isResource }
            return endpoint.paths.contains(name) || !base.isEmpty && endpoint.versioned == name
        }
        return found.map { OAuthRoute(endpoint: $0, base: base.map { "/" + $0 }.joined()) }
    }

    /// The path under which discovery tells of an endpoint.
    func path(of endpoint: OAuthEndpoint) -> String {
        let versioned = base.isEmpty ? nil : endpoint.versioned
        return "\(base)/\(versioned ?? endpoint.paths[0])"
    }
}
