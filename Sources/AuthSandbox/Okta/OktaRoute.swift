import HTTPRecovery

/// Which of Okta's APIs a path belongs to, and what stands below it.
struct OktaRoute: Sendable, Equatable {
    /// The APIs.
    enum Endpoint: String, Sendable {
        case authentication = "authn"
        case sessions
        case users
        /// The steps of the identity engine.
        case engine
        /// Where a flow of the identity engine begins.
        case interact
        /// Where a challenge of Direct Authentication begins.
        case direct
        /// Where an app ends the session of a browser.
        case logout
        /// What people may change of their own account.
        case account
        /// The page of another provider.
        case provider
        /// What the org runs on.
        case organization
    }

    let endpoint: Endpoint
    /// The parts of the path below the API's own.
    let parts: [String]

    /// The API that a path belongs to; nil for a path of somebody else.
    static func find(_ path: String) -> OktaRoute? {
        guard path.utf8.count <= 4096 else { return nil }
        let parts = path.split(separator: "/").map(String.init)
        if parts == [".well-known", "okta-organization"] { return OktaRoute(endpoint: .organization, parts: []) }
        if parts.starts(with: ["idp", "myaccount"]) {
            return OktaRoute(endpoint: .account, parts: Array(parts[2...]))
        }
        if parts.starts(with: ["idp", "idx"]), parts.count > 2 {
            return OktaRoute(endpoint: .engine, parts: Array(parts[2...]))
        }
        if parts.starts(with: ["sso", "idps"]), parts.count == 3 {
            return OktaRoute(endpoint: .provider, parts: parts)
        }
        if parts.first == "oauth2", parts.suffix(2) == ["v1", "interact"], parts.count <= 4 {
            return OktaRoute(endpoint: .interact, parts: parts)
        }
        if parts.first == "oauth2", parts.suffix(2) == ["v1", "logout"], parts.count <= 4 {
            return OktaRoute(endpoint: .logout, parts: parts)
        }
        let challenges = ["challenge", "primary-authenticate"]
        if parts.first == "oauth2", parts.count <= 4, parts.dropLast().last == "v1",
            challenges.contains(parts.last ?? "")
        {
            return OktaRoute(endpoint: .direct, parts: parts)
        }
        guard parts.count >= 3, parts[0] == "api", parts[1] == "v1", let endpoint = Endpoint(rawValue: parts[2])
        else { return nil }
        return OktaRoute(endpoint: endpoint, parts: Array(parts[3...]))
    }

    /// What Okta counts requests by.
    var bucket: String {
        switch endpoint {
        case .engine: "/idp/idx"
        case .account: "/idp/myaccount"
        case .interact, .direct, .logout: "/oauth2"
        case .provider: "/sso"
        case .organization: "/.well-known"
        default: "/api/v1/\(endpoint.rawValue)"
        }
    }

    /// The parts with `{id}` in the place of the id of a factor or a person, and that id.
    var pattern: (text: String, id: String) {
        let place = endpoint == .users ? 0 : 1
        guard parts.count > place, endpoint == .users || parts[0] == "factors" else {
            return (parts.joined(separator: "/"), "")
        }
        var pattern = parts
        pattern[place] = "{id}"
        return (pattern.joined(separator: "/"), parts[place])
    }

    /// Whether a part of a path is the id of a person or a factor.
    static func isID(_ part: some StringProtocol) -> Bool {
        let prefixes = ["00u"] + SandboxOktaUser.Factor.idPrefixes
        return part.count == 20 && prefixes.contains { part.hasPrefix($0) }
            && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
