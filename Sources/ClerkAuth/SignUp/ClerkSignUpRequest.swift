public import AuthRecovery
public import HTTPRecovery

/// What somebody signs up with; whatever else the instance requires is asked for.
public struct ClerkSignUpRequest: Sendable, Hashable {
    /// The e-mail address.
    public var emailAddress: String?
    /// The phone number, in the form `+15555550100`.
    public var phoneNumber: String?
    /// The user name.
    public var username: String?
    /// The password.
    public var password: Secret?
    /// The first name.
    public var firstName: String?
    /// The last name.
    public var lastName: String?
    /// The ticket of an invitation; it is presented once.
    public var ticket: Secret?
    /// Whether the person has agreed to the terms; nil says nothing about it.
    public var legalAccepted: Bool?
    /// What the app wants to keep with the user; anybody may change it.
    public var unsafeMetadata: JSONValue?
    /// Whether it takes over the proof of a sign-in by somebody who had no account
    /// (``ClerkVerification/isTransferable``).
    public var transfersSignIn: Bool
    /// The identity provider that they sign up with; nil if they sign up here.
    public var redirect: ClerkRedirect?

    /// Creates a request.
    public init(
        emailAddress: String? = nil,
        phoneNumber: String? = nil,
        username: String? = nil,
        password: Secret? = nil,
        firstName: String? = nil,
        lastName: String? = nil,
        ticket: Secret? = nil,
        legalAccepted: Bool? = nil,
        unsafeMetadata: JSONValue? = nil,
        transfersSignIn: Bool = false,
        redirect: ClerkRedirect? = nil
    ) {
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.username = username
        self.password = password
        self.firstName = firstName
        self.lastName = lastName
        self.ticket = ticket
        self.legalAccepted = legalAccepted
        self.unsafeMetadata = unsafeMetadata
        self.transfersSignIn = transfersSignIn
        self.redirect = redirect
    }

    /// A sign-up that takes a sign-in's proof over.
    static var transfer: ClerkSignUpRequest { ClerkSignUpRequest(transfersSignIn: true) }

    /// Whom it is about, as far as that is known.
    var identifier: String? { emailAddress ?? phoneNumber ?? username }

    /// Whether a sign-up is about the address and the number that are asked for here.
    func isAbout(_ signUp: ClerkSignUp) -> Bool {
        let pairs = [(emailAddress, signUp.emailAddress), (phoneNumber, signUp.phoneNumber)].filter { $0.0 != nil }
        return !pairs.isEmpty
            && pairs.allSatisfy { wanted, found in
                wanted.map { LockoutLedger.account(for: $0) } == found.map { LockoutLedger.account(for: $0) }
            }
    }

    var form: FormFields {
        var form = FormFields()
        form.add("email_address", emailAddress)
        form.add("phone_number", phoneNumber)
        form.add("username", username)
        form.add("password", secret: password)
        form.add("first_name", firstName)
        form.add("last_name", lastName)
        if let ticket {
            form.add("strategy", "ticket")
            form.add("ticket", secret: ticket)
        }
        form.add("legal_accepted", legalAccepted.map { $0 ? "true" : "false" })
        form.add("unsafe_metadata", unsafeMetadata?.description)
        if transfersSignIn { form.add("transfer", "true") }
        return form
    }
}
