import HTTPRecovery
import HTTPRecoveryTesting

/// A person's account with what has happened to it.
struct ClerkAccount: Sendable {
    let id: String
    var user: SandboxUser
    let emails: [Contact]
    let phones: [Contact]
    let createdAt: Int64
    var backupCodes: [String]
    var failures: Int64 = 0
    var lock: SandboxLock = .open
    /// The clients that have proved themselves once.
    var trustedClients: Set<String> = []
    var lastTOTPStep: Int64?
    var lastSignInAt: Int64?

    /// An e-mail address or a phone number with its id.
    struct Contact: Sendable {
        let id: String
        let address: String
    }

    var firstFactors: [String] {
        if let chosen = user.firstFactors { return chosen }
        var factors: [String] = []
        if user.password != nil { factors.append("password") }
        if !emails.isEmpty { factors.append("email_code") }
        if !phones.isEmpty { factors.append("phone_code") }
        if user.password != nil, !emails.isEmpty { factors.append("reset_password_email_code") }
        if user.password != nil, !phones.isEmpty { factors.append("reset_password_phone_code") }
        if !user.passkeys.isEmpty { factors.append("passkey") }
        return factors
    }

    var secondFactors: [String] {
        let chosen = user.secondFactors ?? ["totp", "backup_code"]
        return chosen.filter { factor in
            switch factor {
            case "totp": user.totpSecret != nil
            case "backup_code": !backupCodes.isEmpty
            case "phone_code": !phones.isEmpty
            default: !emails.isEmpty
            }
        }
    }

    /// The ways to prove a new client: a code to what the person has.
    var clientTrustFactors: [String] {
        (emails.isEmpty ? [] : ["email_code"]) + (phones.isEmpty ? [] : ["phone_code"])
    }
}

/// An app on a device: holds the sessions and the sign-in at hand.
struct ClerkClient: Sendable {
    let id: String
    var token: String
    let createdAt: Int64
    var updatedAt: Int64
    var sessions: [String] = []
    var signIn: String?
    var signUp: String?
    var lastActiveSession: String?
    var lastStrategy: String?
}

/// Somebody signed in on a client.
struct ClerkSession: Sendable {
    let id: String
    let client: String
    let account: String
    let createdAt: Int64
    var updatedAt: Int64
    var expireAt: Int64
    var lastActiveAt: Int64
    var status: String
    var tasks: [String]
    /// The code for an answer about this session once it is over; nil is the instance's way.
    var endedCode: String?
    /// The JWT that was made last, and until when it is good.
    var lastToken = ""
    var lastTokenExpires: Int64 = 0
    /// When the first and the second factor were proved; nil for never.
    var firstFactorAt: Int64?
    var secondFactorAt: Int64?
    /// The verification that is under way, which is kept among the sign-ins.
    var verification: String?

    var isLive: Bool { status == "active" || status == "pending" }
}

/// An attempt to sign in.
struct ClerkSignIn: Sendable {
    let id: String
    let client: String
    let createdAt: Int64
    let abandonAt: Int64
    var identifier: String?
    /// Nil while nobody is named, and for somebody who does not exist under enumeration protection.
    var account: String?
    var status: String
    var first: Verification?
    var second: Verification?
    var createdSession: String?
    var clientTrustState: String?
    /// The session that it verifies again, where it is no sign-in at all.
    var reverification: Reverification?

    /// A session that is verified again.
    struct Reverification: Sendable {
        let session: String
        /// `first_factor`, `second_factor` or `multi_factor`.
        let level: String
    }

    /// One factor's proof.
    struct Verification: Sendable {
        var strategy: String
        var status = "unverified"
        var attempts: Int64 = 0
        var expireAt: Int64?
        var code: String?
        var sentAt: Int64 = 0
        var contact: String?
        /// The challenge that a passkey has to sign.
        var nonce: String?
        /// The address that a link was sent to is bound to this (RFC 7636).
        var codeChallenge: String?

        var object: String {
            switch strategy {
            case "password": "verification_password"
            case "totp": "verification_totp"
            case "backup_code": "verification_backup_code"
            case "ticket": "verification_ticket"
            case "email_link": "verification_email_link"
            case "passkey": "verification_passkey"
            default: "verification_otp"
            }
        }
    }
}

/// One request on its way through the API.
struct ClerkExchange {
    let request: SandboxRequest
    /// The method and the path after `/v1` with `{id}` for the id: what the router looks at.
    let route: String
    /// The id in the path.
    let id: String
    let form: [FormEncoding.Field]
    let isNative: Bool
    /// The client token that came along.
    let presentedToken: String?
    var client: String?
    /// What the answer says about the client token: nil is nothing, blank is to forget it.
    var tokenHeader: String?
    /// Where the answer sends the browser, instead of telling anything.
    var redirect: String?

    init?(_ request: SandboxRequest) {
        let segments = request.segments
        guard let version = segments.firstIndex(of: "v1") else { return nil }
        var parts = Array(segments[(version + 1)...])
        let collections = ["client/sign_ins", "client/sign_ups", "client/sessions", "me/sessions"]
        let hasID = parts.count > 2 && collections.contains("\(parts[0])/\(parts[1])")
        id = hasID ? parts[2] : ""
        if hasID { parts[2] = "{id}" }
        let tunnelled = request.method == "POST" ? request.queryItem("_method")?.uppercased() : nil
        route = "\(tunnelled ?? request.method) \(parts.joined(separator: "/"))"
        self.request = request
        form = FormEncoding.fields(request.body)
        let flag = request.queryItem("_is_native")
        isNative = flag == "true" || flag == "1"
        presentedToken = isNative ? Self.bearer(request) : Self.cookie(request)
    }

    /// The first value of a form field; nil when it is absent.
    func field(_ name: String) -> String? {
        form.first { $0.name == name }?.value
    }

    /// A field that has to be there and not empty.
    func required(_ name: String) throws(ClerkFailure) -> String {
        guard let value = field(name) else { throw .missing(name) }
        guard !value.isEmpty else { throw .null(name) }
        return value
    }

    /// What `Authorization` holds, with or without `Bearer`; nil for nothing.
    static func bearer(_ request: SandboxRequest) -> String? {
        guard let value = request.header("authorization") else { return nil }
        let words = value.split(separator: " ", maxSplits: 1)
        if words.first?.lowercased() == "bearer" { return words.count > 1 ? String(words[1]) : nil }
        return value.isEmpty ? nil : value
    }

    private static func cookie(_ request: SandboxRequest) -> String? {
        let pairs = request.headers.filter { $0.name == "cookie" }.flatMap { $0.value.split(separator: ";") }
        for pair in pairs {
            let halves = pair.split(separator: "=", maxSplits: 1)
            if halves.count == 2, halves[0].drop(while: { $0 == " " }) == "__client" { return String(halves[1]) }
        }
        return nil
    }
}
