import HTTPRecovery
import HTTPTypes

/// The endpoint of the Frontend API that a request went to.
struct ClerkEndpoint {
    private let method: HTTPRequest.Method
    /// The path's segments after the version; a proxy may prepend others.
    private let segments: [Substring]

    init(method: HTTPRequest.Method, path: String) {
        self.method = method
        let all = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        let version = all.lastIndex(of: "v1").map { $0 + 1 } ?? 0
        segments = Array(all[version...].prefix(32))
    }

    /// Whether it reads the client.
    var isClient: Bool { method == .get && segments == ["client"] }

    /// Whether it is one of the OAuth endpoints.
    var isOAuth: Bool { segments.contains("oauth") }

    /// Whether it is a step of a sign-in.
    var isSignIn: Bool { segments.contains("sign_ins") }

    /// Whether it is a step of a sign-in or a sign-up.
    var isFlow: Bool { isSignIn || segments.contains("sign_ups") }

    /// Whether it is a step of proving oneself again within a session.
    var isReverification: Bool { segments.contains("sessions") && segments.contains("verify") }

    /// Whether it is a step of a flow, whose answer says where the flow stands.
    var isStep: Bool { isFlow || isReverification }

    /// Whether it attempts a second factor.
    var isSecondFactor: Bool { segments.last == "attempt_second_factor" }

    /// Whether it sets a new password.
    var isPasswordReset: Bool { segments.last == "reset_password" }

    /// Whether it is about the client, its sessions or its sign-in, which reading the client again would show.
    var isClientState: Bool { segments.first == "client" || segments.contains("sessions") || isFlow }

    /// Whether it tries what failures are counted of, or has something sent for it: it is not done while the account is
    /// locked.
    var isCountedAgainstAccount: Bool {
        guard method == .post, let last = segments.last else { return false }
        return ["sign_ins", "reset_password", "change_password"].contains(last) || last.hasPrefix("attempt_")
            || last.hasPrefix("prepare_") || completesLink
    }

    /// Whether it exchanges what an opened link has brought.
    var completesLink: Bool { segments.suffix(2).elementsEqual(["magic_links", "complete"]) }

    /// The sign-in or sign-up that it is a step of.
    var flowID: String? { id(after: "sign_ins") ?? id(after: "sign_ups") }

    /// Where a proof against abuse can go beside the client; nil where only the client takes one.
    var placeOfProofs: AbuseQuestion.Place? {
        guard segments.first == "client", segments.count > 1, ["sign_ins", "sign_ups"].contains(segments[1]) else {
            return nil
        }
        if segments.count > 2 { return .flow(path: "/" + segments.prefix(3).joined(separator: "/")) }
        return method == .post ? .creation : nil
    }

    /// The session that it is about.
    var sessionID: String? { id(after: "sessions") }

    private func id(after collection: Substring) -> String? {
        guard let index = segments.firstIndex(of: collection), index + 1 < segments.count else { return nil }
        return String(segments[index + 1])
    }

    /// Whether it makes a session token.
    var isTokens: Bool { segments.contains("sessions") && segments.contains("tokens") }

    /// Whether it ends sessions.
    var endsSession: Bool {
        method == .delete || segments.last == "end" || segments.last == "remove" || segments.last == "revoke"
    }

    /// The name of the class of endpoints that Clerk counts together (its guide "System limits"); any other endpoint
    /// is a class of its own, whichever resource it is about.
    var className: String {
        if method == .post {
            switch (segments.last, segments.dropLast(2).last) {
            case ("sign_ins", _): return "create sign-in"
            case ("sign_ups", _): return "create sign-up"
            case ("attempt_first_factor", "sign_ins"), ("attempt_second_factor", "sign_ins"): return "attempt sign-in"
            case ("attempt_verification", "sign_ups"): return "attempt sign-up"
            default: break
            }
        }
        var names: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let follows = index > 0 && Self.collections.contains(segments[index - 1])
            names.append(follows || Self.looksLikeID(segment) ? "{id}" : segment)
        }
        return "\(method.rawValue) /v1/\(names.joined(separator: "/"))"
    }

    private static let collections: Set<Substring> = [
        "sign_ins", "sign_ups", "sessions", "organizations", "users", "email_addresses", "phone_numbers",
        "external_accounts", "passkeys", "web3_wallets", "organization_memberships", "organization_invitations",
    ]

    /// Whether a segment is an id such as `sess_2abC`: Clerk's words are written in lower case without digits.
    private static func looksLikeID(_ segment: Substring) -> Bool {
        segment.utf8.contains { $0.isDigit || $0.isUppercase }
    }
}
