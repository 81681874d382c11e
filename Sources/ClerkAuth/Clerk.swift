public import AuthRecovery
public import HTTPRecovery

/// Clerk's Frontend API for a native client, with recovery.
///
/// ```swift
/// let clerk = try Clerk(publishableKey: "pk_test_…", client: client, tokens: FileTokenStore(path: path))
/// let session = try await clerk.signIn(identifier: email, password: password, answering: prompts)
/// ```
///
/// The client token is kept in the token store and follows Clerk's own rules: each answer may replace it, a blank
/// `Authorization` field clears it, and no status or error code does.
///
/// Copies share what they know: the client as the server told it last, and the session tokens.
public struct Clerk: Sendable {
    let api: ClerkAPI

    /// Creates a client of the instance that a publishable key names.
    ///
    /// - Parameters:
    ///   - publishableKey: The key, `pk_test_…` or `pk_live_…`.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the client token and the id of the session.
    ///   - configuration: What the app wants beside.
    /// - Throws: ``InvalidPublishableKey`` when the text is no publishable key.
    public init(
        publishableKey: String,
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: ClerkConfiguration = ClerkConfiguration()
    ) throws {
        let url = try PublishableKey(publishableKey).frontendAPI
        try self.init(frontendAPI: url, client: client, tokens: tokens, configuration: configuration)
    }

    /// Creates a client of a Frontend API.
    ///
    /// - Parameters:
    ///   - frontendAPI: The URL of what stands before `/v1`; a proxy may prepend path segments.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the client token and the id of the session.
    ///   - configuration: What the app wants beside.
    /// - Throws: `InvalidURL` when the text is no such URL.
    public init(
        frontendAPI: String,
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: ClerkConfiguration = ClerkConfiguration()
    ) throws(InvalidURL) {
        let base = try FrontendAPI(frontendAPI)
        self.api = ClerkAPI(base: base, client: client, tokens: tokens, configuration: configuration)
    }

    /// What is known about locked accounts.
    public var lockouts: LockoutLedger {
        LockoutLedger(runtime: api.client.runtime, origin: api.base.origin)
    }

    /// Signs in, through everything that can stand in the way.
    ///
    /// A compromised password becomes a code by e-mail (or another factor that the options allow), second factors and
    /// new devices are confirmed, a new password is set where Clerk wants one, and a lockout is waited for or fails
    /// with its time, as the client's policies say. A password, a code and a new password are each sent once: where an
    /// answer is lost on the way, the sign-in fails rather than spends them again. Only a flow that the server has
    /// given up is begun again with the password that it had not refused.
    ///
    /// Where a session exists already, it is used, unless the server shows that it is another person's.
    ///
    /// - Parameters:
    ///   - identifier: E-mail address, phone number or user name.
    ///   - password: The password; nil lets the person choose among what the server offers.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: `RecoveryError` for what could not be recovered from, `NoAnswer` where the responder had none,
    ///   `CancellationError` as soon as the task is cancelled.
    public func signIn(
        identifier: String,
        password: Secret? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        let runtime = api.client.runtime
        let watch = SignInWatch(responder)
        let flow = SignInFlow(answering: responder, options: options) { kind in
            watch.emit(kind, in: runtime)
        }
        await api.finishSignOuts()
        return try await watch.run {
            var machine = ClerkSignInMachine(
                api: api,
                identifier: identifier,
                password: password,
                observer: { watch.observe($0) }
            )
            return try await flow.run(&machine)
        }
    }
}
