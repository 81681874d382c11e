public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

/// PingAM (ForgeRock AM, OpenAM) for a client on Linux: whole sign-in journeys, sessions and tokens, with recovery.
///
/// ```swift
/// let forgeRock = try ForgeRock(
///     baseURL: "https://id.example.com/am", client: client, tokens: FileTokenStore(path: path),
///     configuration: ForgeRockConfiguration(realm: "alpha", journey: "Login")
/// )
/// let session = try await forgeRock.signIn(identifier: name, password: password, answering: prompts)
/// ```
///
/// The session's token is kept in the token store as `Credentials.ssoToken`. It is removed when the
/// server definitely says that the session is dead, and by signing out; never by an outage, a throttle or an answer that
/// cannot be read.
public struct ForgeRock: AuthProvider {
    var api: ForgeRockAPI
    let start: JourneyStart
    let webAuthn: WebAuthnResponder
    let defaults: JourneyDefaults
    let identityProviders: [String: String]
    let callbacks: any JourneyCallbackResponder
    let oauth: ForgeRockOAuth?

    /// Keeps the tokens fresh: for `Authorization` and `SessionRenewal` of other clients.
    ///
    /// Without OAuth settings it renews nothing.
    public let tokens: TokenManager

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the deployment: what stands before `/json`.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the session and the tokens.
    ///   - configuration: What the program wants beside.
    /// - Throws: `Origin.InvalidURL` when the base URL is no such URL, or has a query or a fragment, or when the origin of
    ///   the configuration is none.
    public init(
        baseURL: String,
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: ForgeRockConfiguration = ForgeRockConfiguration()
    ) throws(Origin.InvalidURL) {
        api = ForgeRockAPI(
            server: try ForgeRockServer(baseURL, realm: configuration.realm),
            client: client,
            tokens: tokens,
            interceptors: configuration.interceptors,
            cookieName: Locked(configuration.cookieName)
        )
        start = configuration.journey.map { .service($0) } ?? .standard
        var ownOrigin = api.server.origin
        if let origin = configuration.origin { ownOrigin = Origin(of: try HTTPRequest(url: origin)) }
        webAuthn = WebAuthnResponder(
            authenticator: configuration.authenticator,
            isAsked: configuration.asksForWebAuthn,
            deviceName: configuration.deviceName,
            origin: ownOrigin,
            time: client.runtime.time
        )
        callbacks = configuration.callbacks
        identityProviders = configuration.identityProviders
        defaults = JourneyDefaults(
            profile: DeviceProfile(
                given: configuration.deviceProfile,
                deviceName: configuration.deviceName,
                tokens: tokens,
                random: client.runtime.random
            ),
            keys: DeviceKeyResponder(keys: configuration.deviceKeys, time: client.runtime.time)
        )
        if let settings = configuration.oauth {
            let exchange = try ForgeRockOAuth(api: api, settings: settings)
            oauth = exchange
            self.tokens = TokenManager(
                store: tokens,
                renewer: ForgeRockRenewer(oauth: exchange),
                options: settings.renewal
            )
        } else {
            oauth = nil
            self.tokens = TokenManager(store: tokens)
        }
    }

    /// What accounts and credentials belong to.
    public var origin: Origin { api.server.origin }

    /// Sends the requests.
    public var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    /// A journey to be answered step by step.
    ///
    /// - Parameters:
    ///   - start: What it begins with; nil for the journey to sign in with.
    ///   - options: How it is begun.
    ///   - account: The account that it is about, so that a lockout holds for it.
    public func journey(
        _ start: JourneyStart? = nil,
        options: JourneyOptions = JourneyOptions(),
        account: String? = nil
    ) -> Journey {
        var journey = Journey(start ?? self.start, options: options, api: api, oauth: oauth)
        journey.account = account.map { LockoutLedger.account(for: $0) }
        return journey
    }

    /// Signs in, through everything that can stand in the way.
    ///
    /// The journey's questions are answered with the name and the password that are given here, then by the responder.
    /// Waits between polls are shown to it, texts of the server come as notices. A WebAuthn ceremony is carried out by
    /// the authenticator; without one, or if it fails, the server is told so by itself and the journey goes its way.
    /// A step is sent once: if its answer is lost, the sign-in fails rather than spends it again. A journey that the
    /// server has given up is begun again, with what was answered before and was not refused.
    ///
    /// - Parameters:
    ///   - identifier: The name of the account; nil lets the person be asked.
    ///   - password: The password; nil lets the person be asked.
    ///   - responder: Answers what is asked.
    ///   - callbacks: Answers callbacks before the sign-in looks at them.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its token is stored before this returns.
    /// - Throws: `RecoveryError` for what could not be recovered from: of the kind `user_action_required` if the
    ///   journey was suspended, to be taken up by ``resume(_:identifier:answering:callbacks:options:)``. `Challenge.NoAnswer`
    ///   if the responder had none, `CancellationError` as soon as the task is cancelled.
    public func signIn(
        identifier: String?,
        password: Secret? = nil,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ForgeRockSession {
        try await run(
            journey(account: identifier),
            restart: start,
            identifier: identifier,
            password: password,
            answering: responder,
            callbacks: callbacks,
            options: options
        )
    }

    /// Takes a suspended journey up again by the link that was mailed.
    ///
    /// A link that was used, or is too old, begins the journey to sign in with anew.
    ///
    /// - Parameters:
    ///   - link: The link that was mailed. If it leads to an own login page, take the `suspendedId` out of it for
    ///     ``resume(suspendedID:identifier:answering:callbacks:options:)``.
    ///   - identifier: The name of the account, if it is known.
    ///   - responder: Answers what is asked.
    ///   - callbacks: Answers callbacks before the sign-in looks at them.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its token is stored before this returns.
    /// - Throws: `Origin.InvalidURL`, before anything is sent, if the link is no `http` or `https` URL, has no
    ///   `suspendedId`, or leads to another origin than the base URL. Else as
    ///   ``signIn(identifier:password:answering:callbacks:options:)``.
    public func resume(
        _ link: String,
        identifier: String? = nil,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) async throws -> ForgeRockSession {
        try await resume(
            api.server.start(resuming: link),
            identifier: identifier,
            answering: responder,
            callbacks: callbacks,
            options: options
        )
    }

    /// Takes a suspended journey up again by its id.
    ///
    /// - Parameters:
    ///   - suspendedID: The value of `suspendedId` in the link that was mailed, decoded.
    ///   - identifier: The name of the account, if it is known.
    ///   - responder: Answers what is asked.
    ///   - callbacks: Answers callbacks before the sign-in looks at them.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its token is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:callbacks:options:)``.
    public func resume(
        suspendedID: Secret,
        identifier: String? = nil,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) async throws -> ForgeRockSession {
        try await resume(
            .suspended(id: suspendedID),
            identifier: identifier,
            answering: responder,
            callbacks: callbacks,
            options: options
        )
    }

    private func resume(
        _ suspended: JourneyStart,
        identifier: String?,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder,
        options: SignInOptions
    ) async throws -> ForgeRockSession {
        try await run(
            journey(suspended, account: identifier),
            restart: start,
            identifier: identifier,
            password: nil,
            answering: responder,
            callbacks: callbacks,
            options: options
        )
    }

    func run(
        _ journey: Journey,
        restart: JourneyStart,
        identifier: String?,
        password: Secret?,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder,
        options: SignInOptions,
        because occasion: Outcome = Outcome(.challengeRequired)
    ) async throws -> ForgeRockSession {
        let machine = machine(journey, restart: restart, identifier, password, callbacks)
        var flow = SignInFlow(machine, client: api.client, options: options, because: occasion)
        return try await flow.run(answering: responder)
    }

    // MARK: Step by step

    /// A sign-in to be stepped, as by a web backend: nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - identifier: The name of the account; nil lets the person be asked.
    ///   - password: The password; nil lets the person be asked.
    ///   - callbacks: Answers callbacks before the sign-in looks at them.
    ///   - options: How to deal with what goes wrong.
    public func signInFlow(
        identifier: String?,
        password: Secret? = nil,
        callbacks: any JourneyCallbackResponder,
        options: SignInOptions = SignInOptions()
    ) -> SignInFlow<ForgeRockSession> {
        let machine = machine(journey(account: identifier), restart: start, identifier, password, callbacks)
        return SignInFlow(machine, client: api.client, options: options)
    }

    /// The same, without answers to callbacks.
    public func signInFlow(
        identifier: String?,
        password: Secret?,
        options: SignInOptions?
    ) -> SignInFlow<ForgeRockSession> {
        signInFlow(
            identifier: identifier,
            password: password,
            callbacks: NoJourneyCallbackResponder(),
            options: options ?? SignInOptions()
        )
    }

    /// Takes a sign-in up again.
    public func signInMachine(from memory: JSONValue) -> (any SignInMachine<ForgeRockSession>)? {
        var machine = machine(journey(), restart: start, nil, nil, NoJourneyCallbackResponder())
        guard let recalled = memory[ForgeRockSignInMachine.name], machine.recall(recalled) else { return nil }
        return machine
    }

    func machine(
        _ journey: Journey,
        restart: JourneyStart,
        _ identifier: String?,
        _ password: Secret?,
        _ callbacks: any JourneyCallbackResponder
    ) -> ForgeRockSignInMachine {
        ForgeRockSignInMachine(
            journey: journey,
            restart: restart,
            identifier: identifier,
            password: password,
            callbacks: JourneyCallbackResponders(first: callbacks, second: self.callbacks),
            webAuthn: webAuthn,
            defaults: defaults,
            identityProviders: identityProviders
        )
    }
}
