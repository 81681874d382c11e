import HTTPRecovery

/// Which endpoint of PingAM, or of an application behind its gateway, a path is, and in which realm.
struct ForgeRockRoute: Sendable, Equatable {
    /// The endpoints.
    enum Endpoint: Sendable, Equatable {
        case authenticate
        case sessions
        case serverInfo
        /// The profiles of people: all, or the one of a name.
        case users(String?)
        /// An endpoint of the REST API that is not there.
        case unknownResource
        case oauth(OAuthEndpoint)
        /// An application behind the gateway, by what stands after `/ig`.
        case gateway([String])
        /// A flow of PingOne, perhaps behind DaVinci.
        case flow(String, isWrapped: Bool)
        /// The identity provider that journeys send people to.
        case identityProvider(isSAML: Bool)
    }

    /// The endpoints of the OAuth 2 side, by their paths.
    enum OAuthEndpoint: String, Sendable, CaseIterable {
        case authorize
        case token = "access_token"
        case revoke = "token/revoke"
        case userinfo
        case introspect
        case endSession = "connect/endSession"
        case keys = "connect/jwk_uri"
        case discovery = ".well-known/openid-configuration"
        case unknown = ""
    }

    let endpoint: Endpoint
    /// What stands before `/json` or `/oauth2`: nothing, or the deployment's path.
    let base: String
    /// The realm, such as `/` or `/alpha/customers`.
    let realm: String

    /// The endpoint that a path is; nil for one of somebody else.
    static func find(_ path: String) -> ForgeRockRoute? {
        guard path.utf8.count <= 4096 else { return nil }
        var parts = path.split(separator: "/").map { FormEncoding.decode(Array($0.utf8), plusIsSpace: false) }
        var base = ""
        if let first = parts.first, deployments.contains(first), parts.count > 1 {
            base = "/" + first
            parts.removeFirst()
        }
        switch parts.first {
        case "json":
            let (realm, rest) = realm(of: parts.dropFirst())
            return ForgeRockRoute(endpoint: resource(rest), base: base, realm: realm)
        case "oauth2":
            // Without a deployment's path the short forms are those of another provider.
            guard !base.isEmpty || parts.dropFirst().first == "realms" else { return nil }
            let (realm, rest) = realm(of: parts.dropFirst())
            let endpoint = OAuthEndpoint(rawValue: rest.joined(separator: "/")) ?? .unknown
            return ForgeRockRoute(endpoint: .oauth(endpoint), base: base, realm: realm)
        case "idp" where parts.count == 2 && ["authorize", "saml"].contains(parts[1]):
            return ForgeRockRoute(endpoint: .identityProvider(isSAML: parts[1] == "saml"), base: base, realm: "/")
        // The id of an environment stands before those.
        case let environment?
        where environment.utf8.count == 36 && parts.count > 2 && base.isEmpty
            && ["flows", "davinci"].contains(parts[1]):
            let flow = Endpoint.flow(parts[parts.count - 1], isWrapped: parts[1] == "davinci")
            return ForgeRockRoute(endpoint: flow, base: "", realm: "/")
        case "ig" where base.isEmpty:
            return ForgeRockRoute(endpoint: .gateway(Array(parts.dropFirst())), base: "", realm: "/")
        default:
            return nil
        }
    }

    /// A realm as it is written in one way: `/alpha/customers`.
    static func plain(realm: String) -> String { "/" + realm.split(separator: "/").joined(separator: "/") }

    private static let deployments = ["am", "openam"]

    /// The realm that `realms/root/realms/alpha` names, and what follows it.
    private static func realm(of parts: ArraySlice<String>) -> (String, [String]) {
        var rest = parts
        var names: [String] = []
        while rest.count > 1, rest.first == "realms" {
            names.append(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
        }
        if names.first == "root" { names.removeFirst() }
        return ("/" + names.joined(separator: "/"), Array(rest))
    }

    private static func resource(_ rest: [String]) -> Endpoint {
        switch (rest.first, rest.count) {
        case ("authenticate", 1): .authenticate
        case ("sessions", 1): .sessions
        case ("serverinfo", 2) where rest[1] == "*": .serverInfo
        case ("users", 1): .users(nil)
        case ("users", 2): .users(rest[1])
        default: .unknownResource
        }
    }
}
