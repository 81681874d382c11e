import HTTPRecovery
import HTTPTypes

/// The endpoint of an org that a request went to.
struct OktaEndpoint {
    private let method: HTTPRequest.Method
    private let segments: [Substring]
    /// The segments below `authn`; nil elsewhere.
    private let step: ArraySlice<Substring>?

    init(method: HTTPRequest.Method, path: String, query: String? = nil) {
        self.method = method
        let all = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").prefix(32)
        let segments = Array(all)
        self.segments = segments
        let items = (query ?? "").split(separator: "&").prefix(64)
        hasSessionToken = items.contains { $0.hasPrefix("sessionToken=") }
        step = segments.firstIndex(of: "authn").map { segments[($0 + 1)...] }
    }

    /// Whether it belongs to the Authentication API.
    var isAuthentication: Bool { step != nil }

    /// Whether it begins a transaction, or reads where one stands.
    var isPrimary: Bool { step?.isEmpty == true }

    /// Whether it ends a transaction.
    var isCancel: Bool { step?.last == "cancel" }

    /// Whether it changes a password, for which the old one is presented too.
    var isPasswordChange: Bool { segments.last == "change_password" }

    /// Whether it has a code sent or a factor prepared, so that the answer may be without a transaction.
    var isSending: Bool {
        let isSent = segments.last == "sms" || segments.last == "email" || segments.last == "call"
        return segments.last == "resend" || (isSent && segments.contains("activate"))
    }

    /// Whether it is about sessions.
    var isSessions: Bool { step == nil && segments.contains("sessions") }

    /// Whether it makes a session of a one-time token.
    var makesSession: Bool { isSessions && method == .post && segments.last == "sessions" }

    /// Whether the one-time token of a session stands in the query.
    let hasSessionToken: Bool

    /// Whether it lists the security questions to choose from.
    var isQuestions: Bool { step?.last == "questions" }

    /// Whether it ends sessions.
    var endsSession: Bool {
        (isSessions && method == .delete) || segments.last == "signout" || segments.last == "logout"
    }

    /// Whether it belongs to the identity engine.
    var isIdentityEngine: Bool { segments.contains("idx") }

    /// Whether it takes answers of the person's there.
    var isAnswer: Bool { isIdentityEngine && segments.last == "answer" }

    /// Whether it ends a flow of the identity engine.
    var endsFlow: Bool { isIdentityEngine && segments.last == "cancel" }

    /// Whether a step of the identity engine may spend what it carries, have something sent or enrol somebody: all of
    /// them but those that only read, choose or end.
    var isSpendingStep: Bool {
        guard isIdentityEngine, method == .post, let last = segments.last else { return false }
        // Below `credential` it has a code sent; on its own it only leads to the form of a new account.
        if last == "enroll" { return segments.dropLast().last != "idx" }
        return !Self.repeatable.contains(last)
    }

    /// The last parts of the paths of steps that are the same if they are taken twice.
    private static let repeatable: Set<Substring> = [
        "introspect", "poll", "select", "unlock-account", "recover", "cancel",
    ]

    /// Whether it belongs to Direct Authentication, or may.
    var isDirect: Bool { isOAuth("token") || isDirectChallenge }

    /// Whether it begins a challenge of Direct Authentication.
    var isDirectChallenge: Bool {
        isOAuth("challenge") || isOAuth("primary-authenticate") || isOAuth("oob-authenticate")
    }

    /// Whether it is an endpoint of an authorization server with the name.
    func isOAuth(_ name: Substring) -> Bool {
        segments.contains("oauth2") && segments.last == name
    }

    var className: String {
        var names: [Substring] = []
        for segment in segments { names.append(Self.looksLikeID(segment) ? "{id}" : segment) }
        return "\(method.rawValue) /\(names.joined(separator: "/"))"
    }

    /// Whether a segment is an id such as `00ub0oNGTSWTBKOLGLNR`: Okta's words have no digit but in a version.
    private static func looksLikeID(_ segment: Substring) -> Bool {
        segment.utf8.count >= 8 && segment.utf8.contains(where: \.isDigit)
    }
}
