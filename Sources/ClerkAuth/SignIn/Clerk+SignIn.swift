public import AuthRecovery
public import HTTPRecovery

extension Clerk {
    /// Signs in with a name, through everything that can stand in the way.
    ///
    /// A compromised password becomes a code by e-mail (or another factor that the options allow), second factors and
    /// new devices are confirmed, a new password is set if Clerk wants one, and a lockout is waited for or fails
    /// with its time, as the client's policies say. A password, a code and a new password are each sent once: if an
    /// answer is lost on the way, the sign-in fails rather than spends them again. Only a flow that the server has
    /// given up is begun again with the password that it had not refused.
    ///
    /// If a session exists already, it is used, unless the server shows that it is another person's.
    ///
    /// Where Clerk wants a captcha or another proof that somebody is no robot, and the configuration has none, the responder is
    /// asked by the key `captcha`. The question's hint is JSON: `code`, by which Clerk has asked, and what the widget needs: for a
    /// captcha (the factor's name is `captcha`) its provider, site keys and sort, for a `protect_check` what Clerk says of the
    /// check. The answer is what the widget has given; of a captcha it may be JSON with `token` and `widget_type`.
    ///
    /// - Parameters:
    ///   - identifier: E-mail address, phone number or user name.
    ///   - password: The password; nil lets the person choose among what the server offers.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: `RecoveryError` for what could not be recovered from, `Challenge.NoAnswer` if the responder had none,
    ///   `CancellationError` as soon as the task is cancelled.
    public func signIn(
        identifier: String,
        password: Secret? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.identifier(identifier, password: password), responder, options)
    }

    /// Signs in whoever proves by a code that an address or number is theirs; who has no account is signed up with it.
    ///
    /// Before they have proved it, nobody learns whether there is an account, as an instance wants it that keeps names secret.
    ///
    /// - Parameters:
    ///   - identifier: E-mail address or phone number; of a user name nothing can be proved.
    ///   - responder: Answers what is asked, a sign-up's questions too.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``; of the kind `misconfigured` where nobody may sign up
    ///   by themselves.
    public func signInOrUp(
        identifier: String,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.identifierOrNew(identifier), responder, options)
    }

    /// Signs in with a ticket: that of an invitation, or of a sign-in token that a backend has made.
    ///
    /// A ticket is presented once. If its answer is lost, the sign-in fails rather than presents it again; a ticket
    /// that is used up or too old is refused with the kind `flow_expired`.
    ///
    /// - Parameters:
    ///   - ticket: The ticket.
    ///   - responder: Answers what is asked, such as a second factor.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``.
    public func signIn(
        ticket: Secret,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.ticket(ticket), responder, options)
    }

    /// Signs in with a passkey, whoever's the authenticator finds.
    ///
    /// The configuration's authenticator signs; without one the responder is asked for the credential as JSON (Web
    /// Authentication section 5.1.8), with the options as the question's hint, or for the word `unsupported`.
    ///
    /// - Parameters:
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``; of the kind `declined` if the person has
    ///   cancelled, `factor_unavailable` if there is no authenticator or no passkey that fits. The authenticator's own
    ///   error is the cause.
    public func signInWithPasskey(
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.passkey, responder, options)
    }

    /// Signs in at another identity provider, which the person visits in a browser.
    ///
    /// The responder is asked by the key `redirect`: the question's `url` is where to go, the answer is the address at which the
    /// browser came back at the configuration's redirect URL; an empty one says that the browser was closed. A web backend
    /// steps ``signInFlow(_:options:)`` with ``ClerkSignInMethod/redirect(_:)`` instead. Who has no account is signed up with
    /// what the provider tells of them, unless the redirect says otherwise.
    ///
    /// - Parameters:
    ///   - redirect: The provider.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``; of the kind `misconfigured` without a redirect URL,
    ///   `declined` if the person has refused or closed the browser, `not_found` for somebody without an account who is not
    ///   to be signed up.
    public func signIn(
        at redirect: ClerkRedirect,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.redirect(redirect), responder, options)
    }

    /// Signs in with the key of this device, which was enrolled before (``enrollTrustedDevice(answering:)``).
    ///
    /// - Parameters:
    ///   - trustedDeviceID: Clerk's id of the key.
    ///   - responder: Answers what is asked, such as a second factor.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``; of the kind `misconfigured` without a key in the
    ///   configuration, `factor_unavailable` if Clerk does not know it any more, or it did not sign, whose error is the cause.
    public func signIn(
        trustedDeviceID: String,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.trustedDevice(id: trustedDeviceID), responder, options)
    }

    /// Replaces a forgotten password by way of a code, and signs in with the new one.
    ///
    /// - Parameters:
    ///   - identifier: E-mail address, phone number or user name.
    ///   - endsOtherSessions: Whether the person's other sessions are ended, on all devices. Default: they are.
    ///   - responder: Answers what is asked: the code, then the new password.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``; of the kind `factor_unavailable` if the
    ///   account has neither an address nor a number that a code could be sent to.
    public func resetPassword(
        identifier: String,
        endsOtherSessions: Bool = true,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.newPassword(identifier: identifier, endsOtherSessions: endsOtherSessions), responder, options)
    }

    // MARK: Links

    /// Has a link sent by e-mail that leads to the configuration's redirect URL.
    ///
    /// For a service, where the browser comes back to another request or process;
    /// ``signIn(identifier:password:answering:options:)`` sends links by itself if they are chosen.
    ///
    /// - Parameter identifier: E-mail address, or another name of the account.
    /// - Returns: What ``signIn(link:ledTo:answering:options:)`` needs.
    /// - Throws: `RecoveryError`; of the kind `factor_unavailable` if the account or the configuration allows no
    ///   links. `CancellationError` as soon as the task is cancelled.
    public func sendEmailLink(identifier: String) async throws -> ClerkEmailLink {
        var api = api
        // Whoever comes back with the address has to be the one who has asked for it.
        api.configuration.waitsForLinks = false
        var machine = ClerkSignInMachine(api: api, goal: .identifier(identifier))
        let begun = try await machine.begin()
        if case .prove(_, let refusal) = begun { throw refusal }
        if case .choose(let factors) = begun, let factor = factors.first(where: { $0.key == .emailLink }) {
            if case .prove(_, let refusal) = try await machine.choose(factor) { throw refusal }
            if let link = machine.pendingLink { return link }
        }
        throw RecoveryError(
            outcome: Outcome(.factorUnavailable, processed: .no, remedies: [.switchFactor]),
            reason: .notRecoverable
        )
    }

    /// Signs in with what a link has led to.
    ///
    /// It is presented once. If it is used up, too old, or was sent by somebody else, it is refused with the kind
    /// `flow_expired`.
    ///
    /// - Parameters:
    ///   - link: What ``sendEmailLink(identifier:)`` returned.
    ///   - address: The address that the browser was sent to.
    ///   - responder: Answers what is asked, such as a second factor.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``; of the kind `invalid_request` if the address
    ///   carries no approval.
    public func signIn(
        link: ClerkEmailLink,
        ledTo address: Secret,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.link(link, ledTo: address), responder, options)
    }

    // MARK: Step by step

    /// A sign-in to be stepped, as by a web backend: nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - method: What it begins with.
    ///   - options: How to deal with what goes wrong.
    public func signInFlow(
        _ method: ClerkSignInMethod,
        options: SignInOptions = SignInOptions()
    ) -> SignInFlow<ClerkSession> {
        flow(ClerkSignInMachine(api: api, goal: method), options)
    }

    /// A sign-in to be stepped, with a name, or without one with a passkey.
    ///
    /// - Parameters:
    ///   - identifier: E-mail address, phone number or user name; nil signs in with a passkey.
    ///   - password: The password; nil lets the person choose among what the server offers.
    ///   - options: How to deal with what goes wrong.
    public func signInFlow(
        identifier: String?,
        password: Secret?,
        options: SignInOptions?
    ) -> SignInFlow<ClerkSession> {
        signInFlow(
            identifier.map { ClerkSignInMethod.identifier($0, password: password) } ?? .passkey,
            options: options ?? SignInOptions()
        )
    }

    /// Takes a sign-in, a sign-up, a session's tasks or a reverification up again.
    public func signInMachine(from memory: JSONValue) -> (any SignInMachine<ClerkSession>)? {
        ClerkMachine<ClerkSession>(memory: memory, api: api)
    }

    func flow<End: ClerkEnd>(
        _ stage: any ClerkStage,
        _ options: SignInOptions,
        because cause: Outcome = Outcome(.challengeRequired)
    ) -> SignInFlow<End> {
        SignInFlow(ClerkMachine<End>(api: api, stage), client: api.client, options: options, because: cause)
    }

    func run(
        _ method: ClerkSignInMethod,
        _ responder: any ChallengeResponder,
        _ options: SignInOptions
    ) async throws -> ClerkSession {
        var flow = signInFlow(method, options: options)
        return try await flow.run(answering: responder)
    }
}
