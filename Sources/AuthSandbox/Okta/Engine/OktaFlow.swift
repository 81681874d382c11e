import HTTPRecovery

/// A sign-in at the identity engine on its way.
struct OktaFlow: Sendable {
    /// The part of the state handle that stays.
    let id: String
    var request: Request
    /// Who it is, what is being verified, and until when it lives: as in a transaction.
    var transaction: OktaTransaction
    var step = Step.identify
    var goal = Goal.signIn
    /// How many answers were given: each one has a state handle of its own.
    var answers: Int64 = 0
    var hasPassword = false
    /// Whether the person's warning, or what is optional, was left out.
    var hasSkipped = false
    /// Whether the person has to consent before it ends.
    var wantsConsent = false
    /// Wrong codes for the factor under way.
    var failures: Int64 = 0

    /// What the app has begun it with.
    struct Request: Sendable {
        let handle: String
        let client: String
        /// What is asked for, and in the end what is given of it.
        var scope: [String]
        let redirectURI: String
        let state: String
        let nonce: String?
        let challenge: String
        /// How strong the proof has to be, by the first of the values that are wanted.
        var acr: String?
        /// The name that the app has told beforehand.
        var loginHint: String?
        /// The token of a link that it was begun with, which is used up with the new password.
        var linkToken: String?
        /// Where the token endpoint is that it ends at.
        let base: String
    }

    /// What is wanted.
    enum Step: Sendable, Equatable {
        /// Okta Verify is looked for on the device.
        case probe
        case identify
        case select
        case password
        /// A factor is being verified.
        case verify
        /// A new password: `reset-authenticator`, `reenroll-authenticator` or `reenroll-authenticator-warning`.
        case newPassword(String)
        case enroll
        /// The phone number of a factor that is being enrolled.
        case phone(String)
        /// Where the link goes by which Okta Verify is set up: the channel is chosen, or an address for it is wanted.
        case channel(String?)
        /// What the org wants to know of somebody.
        case profile(ProfileForm)
        /// A factor is being enrolled.
        case activate
        case consent
        case done
    }

    /// A form about a person.
    enum ProfileForm: Sendable, Equatable {
        /// Of somebody who makes an account.
        case registration
        /// Of somebody who has one; what is optional may be left out.
        case update(isOptional: Bool)
    }

    /// What it is for.
    enum Goal: String, Sendable {
        case signIn = "LOGIN"
        case recovery = "CREDENTIAL_RECOVERY"
        case unlock = "UNLOCK_ACCOUNT"
        case registration = "ENROLL_NEW_USER"
    }

    /// The state handle of the newest answer.
    var handle: String { "02.\(id)~c.\(answers)" }

    /// The flow's part of a state handle.
    static func id(in handle: String) -> String? {
        guard handle.hasPrefix("02.") else { return nil }
        return String(handle.dropFirst(3).prefix { $0 != "~" })
    }
}

/// An error of the identity engine: a message by its key.
struct OktaEngineFailure: Error {
    let status: Int
    let key: String
    let text: String
    /// The field that it hangs on, in the first form.
    var field: String?
    /// Whether the flow is over with it.
    var isEnd = false

    init(_ status: Int, _ key: String, _ text: String, field: String? = nil, isEnd: Bool = false) {
        self.status = status
        self.key = key
        self.text = text
        self.field = field
        self.isEnd = isEnd
    }

    static let expired = OktaEngineFailure(
        401,
        "idx.session.expired",
        "You have been logged out due to inactivity. Refresh or return to the sign in screen.",
        isEnd: true
    )
    static let authentication = OktaEngineFailure(401, "errors.E0000004", "Unable to sign in")
    static let locked = OktaEngineFailure(401, "errors.E0000119", "Your account is locked.")
    static let passcode = OktaEngineFailure(
        401,
        "api.authn.error.PASSCODE_INVALID",
        "Invalid code. Try again.",
        field: "passcode"
    )
    static let replayed = OktaEngineFailure(
        401,
        "authfactor.challenge.soft_token.used_passcode",
        "Each code can only be used once. Please wait for a new code and try again.",
        field: "passcode"
    )
    static let suspended = OktaEngineFailure(
        403,
        "authfactor.challenge.suspended_factor",
        "This authenticator has been suspended."
    )
    static let rejected = OktaEngineFailure(
        400,
        "api.authn.poll.error.push_rejected",
        "You have chosen to reject this login."
    )
    static let ambiguous = OktaEngineFailure(
        400,
        "api.error.field_value_invalid",
        "The enrollment is not named.",
        field: "enrollmentId"
    )
    static let mailed = OktaEngineFailure(400, "errors.E0000118", "An email was recently sent.")
    static let answer = OktaEngineFailure(
        401,
        "oie.authenticator.verify.error.fail",
        "Your answer doesn't match our records.",
        field: "answer"
    )

    /// What the Authentication API would have refused likewise.
    init(_ failure: OktaFailure) {
        let isPolicy = failure.code == OktaFailure.code(80)
        let key = isPolicy ? "password.passwordRequirementsNotMet" : "errors.\(failure.code)"
        self.init(
            failure.status == 429 ? 429 : 400,
            key,
            isPolicy ? failure.causes.joined(separator: " ") : failure.summary,
            field: isPolicy ? "passcode" : nil
        )
    }
}
