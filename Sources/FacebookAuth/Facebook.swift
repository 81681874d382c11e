public import AuthRecovery
public import HTTPRecovery

/// Facebook's Graph API for a program without a browser, with recovery.
///
/// ```swift
/// let app = FacebookApp(id: "1234", clientToken: clientToken)
/// let facebook = try Facebook(app: app, client: client, tokens: FileTokenStore(path: path))
/// let session = try await facebook.signIn(answering: prompts)
/// let feed = try await facebook.send(path: "me/feed")
/// ```
public struct Facebook: AuthProvider {
    var api: GraphAPI

    /// Keeps the person's token, and exchanges it for a new one in time if the app has its secret.
    ///
    /// It belongs into the layers of a client that sends requests with this token by itself. The calls of this type need
    /// no `SessionRenewal` in their client: that would clear a refused token without asking Facebook first.
    public let tokens: TokenManager

    /// Creates a client of Graph.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - graph: The URL of Graph: what stands before the version.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the person's token, and beside it their profile.
    ///   - configuration: What the program wants beside.
    /// - Throws: `Origin.InvalidURL` when the text is no such URL, has a query or a fragment, or the version is none.
    public init(
        app: FacebookApp,
        graph: String = "https://graph.facebook.com",
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: FacebookConfiguration = FacebookConfiguration()
    ) throws(Origin.InvalidURL) {
        let store = FacebookTokenStore(base: tokens)
        var api = GraphAPI(
            server: try GraphServer(graph, version: configuration.version),
            app: app,
            client: client,
            store: store,
            configuration: configuration,
            pacing: FacebookPacing(configuration.pacing),
            errors: Locked(configuration.errors)
        )
        let manager = TokenManager(
            store: store,
            renewer: FacebookExchange(api: api),
            options: TokenManager.RenewalOptions(leeway: configuration.exchangeLeeway)
        )
        api.manager = manager
        self.api = api
        self.tokens = manager
    }

    // MARK: Signing in

    /// Signs a person in by device login: they enter a code at Facebook, on any device.
    ///
    /// The responder is shown where and what; the waits between the questions whether they have done so are shown to it,
    /// too. A code that nobody has entered in time is replaced by a new one as often as the options allow. Whoever was
    /// signed in stays so until the new token is there.
    ///
    /// - Parameters:
    ///   - permissions: What is asked for; nil takes the configuration's.
    ///   - responder: Shows the code.
    ///   - options: How often a login that ran out is begun again, and the bounds of the waits between two questions.
    /// - Returns: The session; its token is stored before this returns.
    /// - Throws: `RecoveryError`: of the kind `declined` if the person said no, `flow_expired` if they took too
    ///   long, `timed_out` for a wait past a bound of the options, or what is waited for. `CancellationError` as soon as the task is cancelled.
    public func signIn(
        permissions: [String]? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> FacebookSession {
        var flow = signInFlow(permissions: permissions, options: options)
        return try await flow.run(answering: responder)
    }

    /// A sign-in by device login to be stepped, as by a web backend: nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - permissions: What is asked for; nil takes the configuration's.
    ///   - options: How often a login that ran out is begun again, and the bounds of the waits between two questions.
    public func signInFlow(
        permissions: [String]? = nil,
        options: SignInOptions = SignInOptions()
    ) -> SignInFlow<FacebookSession> {
        SignInFlow(DeviceSignInMachine(deviceSignIn(permissions)), client: api.client, options: options)
    }

    /// The same for programs that work with any provider.
    ///
    /// - Parameters:
    ///   - identifier: Not looked at: who signs in is told to Facebook alone.
    ///   - password: Not looked at.
    ///   - options: How to deal with what goes wrong; nil for the usual.
    public func signInFlow(
        identifier: String?,
        password: Secret?,
        options: SignInOptions?
    ) -> SignInFlow<FacebookSession> {
        signInFlow(options: options ?? SignInOptions())
    }

    /// What accounts and credentials belong to.
    public var origin: Origin { api.server.origin }

    /// Sends the requests.
    public var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    /// Takes a sign-in up again.
    public func signInMachine(from memory: JSONValue) -> (any SignInMachine<FacebookSession>)? {
        DeviceSignInMachine(deviceSignIn(), from: memory)
    }

    private func deviceSignIn(_ permissions: [String]? = nil) -> FacebookDeviceSignIn {
        FacebookDeviceSignIn(api: api, permissions: permissions ?? api.configuration.permissions)
    }

    /// Begins a device login, for whoever wants to show it by themselves.
    ///
    /// - Parameter permissions: What is asked for; nil takes the configuration's.
    /// - Throws: `RecoveryError`; of the kind `misconfigured` if the app has no client token. `CancellationError` as
    ///   soon as the task is cancelled.
    public func beginDeviceLogin(permissions: [String]? = nil) async throws -> OAuthClient.DeviceAuthorization {
        try await deviceSignIn(permissions).begin()
    }

    /// Waits until the person has entered the code of a device login, and stores the token.
    ///
    /// It waits on the client's clock; the waits are events of the reason `challenge_pending`.
    ///
    /// - Throws: As ``signIn(permissions:answering:options:)``.
    public func finishDeviceLogin(_ device: OAuthClient.DeviceAuthorization) async throws -> FacebookSession {
        try await api.client.operation { operation in
            try await deviceSignIn().wait(for: device, in: operation)
        }
    }
}
