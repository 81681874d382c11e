import HTTPRecovery

/// The endpoint that a request went to, as far as its path tells; PingAM names the action in the query.
enum ForgeRockEndpoint: Hashable {
    /// Starts or continues a journey.
    case authenticate
    /// Looks at, refreshes or ends a session.
    case sessions
    /// Evaluates policies.
    case policies
    /// Another part of the REST API, where the session cookie counts.
    case rest
    /// The authorization endpoint of OAuth 2.
    case authorize
    /// Another endpoint of OAuth 2.
    case oauth
    /// An orchestrated flow of PingOne.
    case flow
    /// Something else, such as an application behind a gateway.
    case resource

    init(path: String) {
        let segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").prefix(64).map { $0.lowercased() }
        let last = segments.last ?? ""
        if segments.contains("oauth2") {
            self = last == "authorize" ? .authorize : .oauth
        } else if segments.contains("davinci") || segments.contains("flow-executions") || Self.isPingOneFlow(segments) {
            self = .flow
        } else if segments.contains("json") {
            switch last {
            case "authenticate": self = .authenticate
            case "sessions": self = .sessions
            case "policies": self = .policies
            default: self = segments.dropLast().last == "sessions" ? .sessions : .rest
            }
        } else {
            self = .resource
        }
    }

    /// Whether it is a flow of PingOne: the id of an environment, `flows`, and the flow's id.
    private static func isPingOneFlow(_ segments: [String]) -> Bool {
        segments.count == 3 && segments[1] == "flows" && segments[0].utf8.count == 36
            && segments[0].utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
    }

    /// Whether the server that makes the sessions answers there.
    var knowsSessions: Bool {
        switch self {
        case .authenticate, .sessions, .policies, .rest, .authorize, .oauth: true
        case .flow, .resource: false
        }
    }
}
