import HTTPRecovery

/// A person's account with what has happened to it.
struct ClerkAccount: Sendable {
    let id: String
    var user: SandboxUser
    var emails: [Contact]
    var phones: [Contact]
    let createdAt: Int64
    var backupCodes: [String]
    /// The numbers and addresses that nobody has proved yet, and the codes that were sent to them.
    var newPhones: [String: NewContact] = [:]
    var newEmails: [String: NewContact] = [:]
    /// The passkeys that were made here, by Clerk's ids, and what is wanted of those that are not made yet.
    var passkeys: [String: String] = [:]
    /// The keys that verify their signatures, by the credentials' names; of those that are not known they are believed.
    var passkeyKeys: [String: P256Key] = [:]
    var newPasskeys: [String: JSONValue] = [:]
    /// The keys of devices, by Clerk's ids, and the challenges that new ones have to sign.
    var trustedDevices: [String: ClerkTrustedDevice] = [:]
    var newTrustedDevices: [ClerkTrustedDevice.Challenge] = []
    /// The secret of an authenticator that nobody has proved yet.
    var newTOTPSecret: String?
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

    typealias NewContact = (contact: Contact, proof: ClerkProof?)

    var firstFactors: [String] {
        let hasPassword = user.password != nil
        let usual = [
            ("password", hasPassword), ("email_code", !emails.isEmpty), ("phone_code", !phones.isEmpty),
            ("reset_password_email_code", hasPassword && !emails.isEmpty),
            ("reset_password_phone_code", hasPassword && !phones.isEmpty), ("passkey", !user.passkeys.isEmpty),
        ]
        return user.firstFactors ?? usual.filter { $0.1 }.map { $0.0 }
    }

    var secondFactors: [String] {
        (user.secondFactors ?? ["totp", "backup_code"]).filter { factor in
            switch factor {
            case "totp": user.totpSecret != nil
            case "backup_code": !backupCodes.isEmpty
            default: !contacts(for: factor).isEmpty
            }
        }
    }

    /// The ways to prove a new client: a code to what the person has.
    var clientTrustFactors: [String] { ["email_code", "phone_code"].filter { !contacts(for: $0).isEmpty } }

    /// Where the codes or links of a strategy go; nowhere for one that sends none.
    func contacts(for strategy: String) -> [Contact] {
        if strategy.hasSuffix("phone_code") { return phones }
        return strategy.hasSuffix("email_code") || strategy == "email_link" ? emails : []
    }
}

/// An organization, by its members and those who are invited.
struct ClerkOrganization: Sendable {
    let id: String
    let name: String
    var members: Set<String> = []
    /// The accounts by the ids of their invitations.
    var invitations: [String: String] = [:]
}

/// An app on a device: holds the sessions and the sign-in at hand.
struct ClerkClient: Sendable {
    let id: String
    var token = ""
    let createdAt: Int64
    var updatedAt: Int64
    var sessions: [String] = []
    var signIn: String?
    var signUp: String?
    var lastActiveSession: String?
    var lastStrategy: String?
    /// Whether a captcha was solved.
    var isHuman = false
}

/// What one client has begun.
protocol ClerkPossession {
    var client: String { get }
}

/// Somebody signed in on a client.
struct ClerkSession: ClerkPossession, Sendable {
    let id: String
    let client: String
    let account: String
    let createdAt: Int64
    var updatedAt: Int64
    var expireAt: Int64
    var lastActiveAt: Int64
    var status: String
    var tasks: [String]
    var organization: String?
    /// The code for an answer about this session once it is over; nil is the instance's way.
    var endedCode: String?
    /// The JWT that was made last, and until when it is good.
    var lastToken = ""
    var lastTokenExpires: Int64 = 0
    /// When each factor was proved.
    var provedAt: [ClerkStep: Int64]
    /// The verification that is under way, which is kept among the sign-ins.
    var verification: String?

    var isLive: Bool { status == "active" || status == "pending" }
}

/// Which of its factors somebody proves.
enum ClerkStep: String, Sendable {
    case first = "first_factor"
    case second = "second_factor"
}

/// An attempt to sign in, or to prove oneself again within a session.
struct ClerkSignIn: ClerkPossession, Sendable {
    let id: String
    let client: String
    let abandonAt: Int64
    var identifier: String?
    /// Nil while nobody is named, and for somebody who does not exist under enumeration protection.
    var account: String?
    var status = "needs_identifier"
    var proofs: [ClerkStep: ClerkProof] = [:]
    /// Whether nobody has the account, and whoever proves that the address or number is theirs may sign up with it.
    var signsUp = false
    var createdSession: String?
    /// What the way back from an identity provider carries, once.
    var rotatingNonce: String?
    var clientTrustState: String?
    /// What has to be proved against abuse before it goes on.
    var check: ClerkProtectCheck?
    /// The session that it verifies again, if it is no sign-in at all, and which factors: the first, the second or
    /// `multi_factor`.
    var reverification: (session: String, level: String)?
}

/// One factor's proof.
struct ClerkProof: Sendable {
    var strategy: String
    var status = "unverified"
    var attempts: Int64 = 0
    var expireAt: Int64?
    var code: String?
    var sentAt: Int64 = 0
    /// When its message leaves.
    var leavesAt: Int64 = 0
    /// The challenge that a passkey has to sign.
    var nonce: String?
    /// The challenge that the key of a device has to sign.
    var deviceChallenge: ClerkTrustedDevice.Challenge?
    /// The page of an identity provider that the person has to visit, and whom it has told of.
    var page: String?
    var visitor: String?
    /// Why it has failed, if it was not proved here.
    var refusal: ClerkFailure?

    static func verified(_ strategy: String) -> ClerkProof {
        ClerkProof(strategy: strategy, status: "verified", attempts: 1)
    }

    /// Refuses to send another code so soon.
    func checkResend(_ call: ClerkCall) throws(ClerkFailure) {
        let again = sentAt + call.settings.resendWindow
        if sentAt > 0, again > call.now { throw .resendTooSoon.waiting(again - call.now) }
    }

    /// Tries a code, as long as one is taken; nil is never right.
    mutating func attempt(_ code: String?, _ call: ClerkCall) throws(ClerkFailure) -> Bool {
        if status == "verified" || status == "transferable" { throw .verificationAlreadyVerified }
        if status == "failed" { throw .verificationFailed }
        if let expireAt, expireAt <= call.now {
            status = "expired"
            throw .verificationExpired
        }
        if leavesAt > call.now { throw .messageNotSent }
        attempts += 1
        let isRight = code != nil && code == self.code
        if isRight {
            status = "verified"
        } else if attempts >= call.settings.codeAttempts {
            status = "failed"
        }
        return isRight
    }

    /// How a wrong code is refused.
    var failure: ClerkFailure { status == "failed" ? .verificationFailed : .codeIncorrect }
}

/// An attempt to sign up.
struct ClerkSignUp: ClerkPossession, Sendable {
    let id: String
    let client: String
    let abandonAt: Int64
    var fields: [String: String] = [:]
    /// The proofs of the address and the number.
    var proofs: [String: ClerkProof] = [:]
    /// The proof of an identity provider, and what the way back from it carries, once.
    var external: ClerkProof?
    var rotatingNonce: String?
    var createdSession: String?
    var createdUser: String?
    /// What has to be proved against abuse before it is complete.
    var check: ClerkProtectCheck?

    var isComplete: Bool { createdSession != nil }

    func isVerified(_ field: String) -> Bool { proofs[field]?.status == "verified" }

    /// What is given and not proved yet.
    var unverified: [String] {
        ["email_address", "phone_number"].filter { fields[$0] != nil && !isVerified($0) }
    }

    func missing(_ settings: SandboxSettings) -> [String] {
        // Who comes from an identity provider needs no password.
        let isExternal = external?.status == "verified"
        return (["email_address"] + settings.requiredFields).filter {
            fields[$0] == nil && !(isExternal && $0 == "password")
        }
    }
}

/// A visit to an identity provider, for a sign-in or a sign-up.
struct ClerkVisit: Sendable {
    let strategy: String
    /// The sign-in; else it is for the sign-up.
    let signIn: String?
    let signUp: String?
    /// Where the browser goes then.
    let target: String
    var isOver = false
}

/// What Clerk's protection wants to have proved.
struct ClerkProtectCheck: Sendable {
    let token: String
    let expiresAt: Int64

    var view: JSONValue {
        [
            "status": "pending", "token": .string(token), "sdk_url": "https://protect.invalid/sdk.js",
            "expires_at": .int(expiresAt),
        ]
    }
}

/// The key of a device that signs somebody in.
struct ClerkTrustedDevice: Sendable {
    let app: String
    let platform: String
    var name: String?
    /// The public key as it came.
    let key: String
    let createdAt: Int64
    var lastUsedAt: Int64?

    /// What such a key has to sign.
    struct Challenge: Sendable {
        let id: String
        let value: String
        /// The key that is to be enrolled, or the id of the one that is to sign in.
        let key: String
        let expiresAt: Int64

        /// What is signed, byte by byte.
        var clientData: String { #"{"type":"trusted_device","challenge":"\#(value)","challenge_id":"\#(id)"}"# }
    }
}

/// A link in an e-mail.
struct ClerkLink: Sendable {
    let flow: String
    let signIn: String
    let step: ClerkStep
    /// Where it leads.
    let target: String
    /// What only the client that asked for it can answer (RFC 7636); nil if any browser may open it.
    let codeChallenge: String?
    let expiresAt: Int64
    var isOpened = false
    var isUsed = false
}

/// What a backend, an invitation or an opened link has given somebody to sign in with, once.
struct ClerkTicket: Sendable {
    /// Who signs in with it; nil for an invitation.
    var account: String?
    /// Who signs up with it.
    var email: String?
    let expiresAt: Int64
    var isUsed = false
}
