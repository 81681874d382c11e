public import HTTPRecovery

extension Factor {
    /// What a sign-in can ask a person for, by the words that events and answer files use.
    @nonexhaustive public enum Key: String, Sendable, Hashable, CaseIterable {
        /// The password.
        case password
        /// A code sent by e-mail.
        case emailCode = "email_code"
        /// A code sent to a phone.
        case phoneCode = "phone_code"
        /// A link sent by e-mail: the address that it has led to, or anything else once it was opened.
        case emailLink = "email_link"
        /// A code from an authenticator app (RFC 6238).
        case totp
        /// One of the single-use backup codes.
        case backupCode = "backup_code"
        /// A new password.
        case newPassword = "new_password"
        /// Which of several factors to use.
        case choice
        /// The answer to a security question.
        case securityAnswer = "security_answer"
        /// The outcome of a WebAuthn ceremony.
        case webauthn
        /// The confirmation on another device.
        case push
        /// A phone number that codes are to be sent to.
        case phoneNumber = "phone_number"
        /// A visit to another page in a browser, such as an identity provider's: the address at which it came back.
        /// ``Challenge/url`` says where to go.
        case redirect
        /// The proof of a captcha that was solved elsewhere, such as in a browser: what its script has given.
        /// ``Challenge/hint`` holds in JSON what the provider says of the captcha, such as the site's key.
        case captcha
        /// Something else that the provider asks for in its own words: ``Challenge/prompt`` says what.
        case text
    }
}

extension Factor.Key {
    /// Whether the server sends what is asked for, so that it can be sent again.
    public var isSent: Bool {
        self == .emailCode || self == .phoneCode || self == .emailLink
    }
}

/// A way to prove oneself that the server offers.
public struct Factor: Sendable, Hashable {
    /// What it asks a person for.
    public var key: Factor.Key
    /// The provider's own name of the factor, such as `email_code`.
    public var providerName: String
    /// Where a code goes to, as the server masks it, such as `a***@example.com`; the question, for the answer to a
    /// security question; what a choice is called that is no way to prove oneself.
    public var destination: String?
    /// The provider's id of the factor or of its destination.
    public var id: String?
    /// Whether the server or the person prefers it.
    public var isDefault: Bool

    /// Creates a factor.
    public init(
        key: Factor.Key,
        providerName: String,
        destination: String? = nil,
        id: String? = nil,
        isDefault: Bool = false
    ) {
        self.key = key
        self.providerName = providerName
        self.destination = destination
        self.id = id
        self.isDefault = isDefault
    }

    /// The name of the account, for a machine that signs nobody in without one.
    public static let identifier = Factor(key: .text, providerName: "identifier")

    /// Whether it is the same factor, though the server may flag or mask it differently from answer to answer.
    public func isSame(as other: Factor) -> Bool {
        key == other.key && providerName == other.providerName && id == other.id
    }
}

/// One question to a person.
public struct Challenge: Sendable, Hashable {
    /// What is asked for.
    public var factor: Factor
    /// Which time it is asked, counted from 1.
    public var round: Int
    /// Why it is asked again; nil the first time.
    public var previousFailure: Outcome?
    /// How many more answers the sign-in takes before it gives up, this one included; nil if nobody counts.
    ///
    /// It is the sign-in's own bound (``SignInOptions/maxRounds``). A server may lock the account before, and says so in
    /// its own words.
    public var attemptsLeft: Int?
    /// Why it is asked: what was refused before it, an expired password, a flow that had to begin again; of the kind
    /// `challenge_required` if the sign-in simply wants it.
    ///
    /// What the person could not know is told to ``ChallengeResponder/notice(_:)`` before it is asked.
    public var occasion: Outcome
    /// What the server says the answer must be like, such as the rules for a new password.
    public var hint: String?
    /// The question in the provider's own words, if it has some.
    public var prompt: String?
    /// The number that the person has to choose on the other device, for a confirmation that asks for one.
    public var number: String?
    /// What the person needs to set the factor up, such as the key for an authenticator app or the address of its QR
    /// code; nil for a factor that is set up.
    public var setup: Secret?
    /// The address that the person has to open in a browser, for a factor that is proven there; it holds the state of
    /// the request, so it is not printed.
    ///
    /// A program on the person's machine opens it and listens at the redirect URI; a web backend sends the browser
    /// there and answers with the URL at which the browser came back. The machine that asked compares the state.
    public var url: Secret?
    /// What the browser has to post to ``url`` there, for a page that is not opened by its address alone; nil mostly.
    ///
    /// ``page`` does it.
    public var form: FormFields?
    /// How long until the server may be asked whether the question was answered elsewhere, as by a link that a mail
    /// holds beside its code; nil, mostly, if it is answered here alone.
    ///
    /// ``SignInFlow/run(answering:)`` asks by itself while somebody is asked. Who steps the sign-in may ask in
    /// between, by ``SignInInput/poll``.
    public var poll: SignInContext.Pause?

    /// Creates a question.
    public init(
        factor: Factor,
        round: Int = 1,
        previousFailure: Outcome? = nil,
        occasion: Outcome = Outcome(.challengeRequired),
        hint: String? = nil,
        prompt: String? = nil,
        number: String? = nil,
        setup: Secret? = nil,
        url: Secret? = nil,
        form: FormFields? = nil,
        poll: SignInContext.Pause? = nil
    ) {
        self.factor = factor
        self.round = round
        self.previousFailure = previousFailure
        self.occasion = occasion
        self.hint = hint
        self.prompt = prompt
        self.number = number
        self.setup = setup
        self.url = url
        self.form = form
        self.poll = poll
    }

    /// Asks for the name of the account.
    public static let identifier = Challenge(factor: .identifier, prompt: "E-mail address or user name")

    /// What is asked for.
    public var key: Factor.Key { factor.key }
}

extension Challenge {
    /// What a person answers.
    @nonexhaustive public enum Answer: Sendable, Hashable {
        /// The text that was asked for.
        case text(Secret)
        /// Send the code again.
        case resend
        /// Use another factor.
        case useAnotherFactor
    }
}
