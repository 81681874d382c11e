package import HTTPRecovery

/// A success of an authorization server: whether it is the API's answer, and what it says about what was presented.
///
/// The endpoints are known by the last part of their path, under the names that servers give them.
package struct OAuthSuccessInterpretation {
    private enum Endpoint {
        case token, revocation, introspection, authorization, userInfo
    }

    private let endpoint: Endpoint
    private let exchange: Exchange
    private let status: Int
    private let body: [UInt8]

    /// Prepares an interpretation; nil if the answer is no success of such an endpoint.
    package init?(_ exchange: Exchange, status: Int, body: [UInt8]) {
        guard (200..<300).contains(status), let endpoint = Self.endpoint(exchange.path) else { return nil }
        self.endpoint = endpoint
        self.exchange = exchange
        self.status = status
        self.body = body
    }

    /// What the answer comes to.
    package var outcome: Outcome {
        let content = ResponseContent(body)
        let presented = exchange.presented
        switch endpoint {
        case .token:
            let members = OAuthBody(content, body).members
            if members["access_token"]?.string?.nonEmpty != nil { return exchanged(members) }
            // Other things are fetched from paths of such a name too, but with an access token.
            return isExchange || content == .markup ? plain(.unreadable) : plain(.ok)
        case .revocation:
            if content == .markup { return plain(.unreadable) }
            var outcome = plain(.ok)
            if let presented, [.access, .refresh, .id, .session].contains(presented) { outcome.tokenAction = .clear }
            return outcome
        case .introspection:
            guard let active = content.json?["active"]?.bool else { return plain(.unreadable) }
            // A success that says that the token is dead; a client asks about tokens that are not its own.
            guard !active, let presented, presented != .client,
                var outcome = OAuthError(word: .invalidToken).outcome(presented: presented)
            else { return plain(.ok) }
            (outcome.code, outcome.processed, outcome.status) = (nil, .yes, status)
            return outcome
        case .authorization:
            guard content == .markup else { return plain(.ok) }
            // A page to sign in or to consent at.
            var outcome = plain(.userActionRequired)
            outcome.remedies = [.visitProvider]
            return outcome
        case .userInfo:
            // It may also be a signed token, which is plain text.
            return content == .markup ? plain(.unreadable) : plain(.ok)
        }
    }

    /// Whether something was presented that is good for tokens.
    private var isExchange: Bool {
        switch exchange.presented {
        case .code, .device, .refresh: true
        default: false
        }
    }

    private func exchanged(_ members: JSONValue) -> Outcome {
        var outcome = plain(.ok)
        switch exchange.presented {
        // They are used up.
        case .code, .device: outcome.tokenAction = .clear
        case .refresh where members["refresh_token"]?.string?.nonEmpty != nil: outcome.tokenAction = .rotate
        default: break
        }
        return outcome
    }

    private func plain(_ kind: Outcome.Kind) -> Outcome {
        Outcome(kind, processed: .yes, status: status)
    }

    /// Whether an exchange was with an endpoint for tokens.
    static func isToken(_ exchange: Exchange) -> Bool { endpoint(exchange.path) == .token }

    /// Whether an exchange was with an endpoint for the person's profile.
    static func isUserInfo(_ exchange: Exchange) -> Bool { endpoint(exchange.path) == .userInfo }

    /// Whether an exchange was with an authorization endpoint.
    static func isAuthorization(_ exchange: Exchange) -> Bool { endpoint(exchange.path) == .authorization }

    private static func endpoint(_ path: String) -> Endpoint? {
        let path = path.prefix { $0 != "?" && $0 != "#" }
        guard let last = path.split(separator: "/").last else { return nil }
        return names[last.lowercased()]
    }

    private static let names: [String: Endpoint] = [
        "token": .token, "access_token": .token, "revoke": .revocation, "revocation": .revocation,
        "endsession": .revocation, "end_session": .revocation, "logout": .revocation, "introspect": .introspection,
        "introspection": .introspection, "authorize": .authorization, "userinfo": .userInfo,
    ]
}
