public import AuthRecovery
public import HTTPRecovery

/// Facebook's Graph API for services and programs at a terminal, with recovery.
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
        let server = try GraphServer(graph, version: configuration.version)
        let isElsewhere = server.origin.description != "https://graph.facebook.com"
        let site = configuration.webLogin?.site ?? (isElsewhere ? graph : "https://www.facebook.com")
        var api = GraphAPI(
            server: server,
            site: try GraphServer(site, version: configuration.version),
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

    /// Signs a person in: by the login dialog in a browser if the configuration has a
    /// ``FacebookConfiguration/webLogin``, else by device login, where they enter a code at Facebook, on any device.
    ///
    /// The responder of a web login is asked for `redirect`: it opens the challenge's URL, and answers with the address at
    /// which the browser came back. That of a device login is shown where and what; the waits between the questions whether
    /// they have done so are shown to it, too. A code that nobody has entered in time, or that was used up, is replaced by a
    /// new one as often as the options allow. Whoever was signed in stays so until the new token is there.
    ///
    /// - Parameters:
    ///   - permissions: What is asked for; nil takes the configuration's.
    ///   - authType: Why somebody is asked who has been asked before; a device login does not know it.
    ///   - responder: Opens the page, or shows the code.
    ///   - options: How often a login that ran out is begun again, and the bounds of the waits between two questions.
    /// - Returns: The session; its token is stored before this returns.
    /// - Throws: `RecoveryError`: of the kind `declined` if the person said no, `flow_expired` if they took too
    ///   long, `timed_out` for a wait past a bound of the options, or what is waited for. `CancellationError` as soon as the
    ///   task is cancelled.
    public func signIn(
        permissions: [String]? = nil,
        authType: FacebookConfiguration.WebLogin.AuthType? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> FacebookSession {
        var flow = signInFlow(permissions: permissions, authType: authType, options: options)
        do {
            return try await flow.run(answering: responder)
        } catch let error as RecoveryError {
            throw error.worded
        }
    }

    /// A sign-in to be stepped, as by a web backend: nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - permissions: What is asked for; nil takes the configuration's.
    ///   - authType: Why somebody is asked who has been asked before; a device login does not know it.
    ///   - options: How often a login that ran out is begun again, and the bounds of the waits between two questions.
    public func signInFlow(
        permissions: [String]? = nil,
        authType: FacebookConfiguration.WebLogin.AuthType? = nil,
        options: SignInOptions = SignInOptions()
    ) -> SignInFlow<FacebookSession> {
        let machine: any SignInMachine<FacebookSession> =
            dialog(permissions, authType).map { FacebookWebSignInMachine($0) }
            ?? DeviceSignInMachine(deviceSignIn(permissions))
        return SignInFlow(machine, client: api.client, options: options)
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
        if let dialog = dialog(), let machine = FacebookWebSignInMachine(dialog, from: memory) { return machine }
        return DeviceSignInMachine(deviceSignIn(), from: memory)
    }

    private func dialog(
        _ permissions: [String]? = nil,
        _ authType: FacebookConfiguration.WebLogin.AuthType? = nil
    ) -> FacebookLoginDialog? {
        api.configuration.webLogin.map { web in
            FacebookLoginDialog(
                api: api,
                web: web,
                permissions: permissions ?? api.configuration.permissions,
                authType: authType
            )
        }
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
    /// - Throws: As ``signIn(permissions:authType:answering:options:)``.
    public func finishDeviceLogin(_ device: OAuthClient.DeviceAuthorization) async throws -> FacebookSession {
        try await api.client.operation { operation in
            try await deviceSignIn().wait(for: device, in: operation)
        }
    }
}
