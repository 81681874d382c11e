public import AuthRecovery
public import HTTPRecovery
public import HTTPTypes

/// Clerk's Frontend API for a native client, with recovery.
///
/// ```swift
/// let clerk = try Clerk(publishableKey: "pk_test_…", client: client, tokens: FileTokenStore(path: path))
/// let session = try await clerk.signIn(identifier: email, password: password, answering: prompts)
/// ```
///
/// The client token is kept in the token store and follows Clerk's own rules: each answer may replace it, a blank
/// `Authorization` field clears it, and no status or error code does.
public struct Clerk: Sendable {
    let api: ClerkAPI

    /// Creates a client of the instance that a publishable key names.
    ///
    /// - Parameters:
    ///   - publishableKey: The key, `pk_test_…` or `pk_live_…`.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the client token and the id of the session.
    /// - Throws: ``InvalidPublishableKey`` when the text is no publishable key.
    public init(publishableKey: String, client: RecoveringClient, tokens: any TokenStore) throws {
        try self.init(frontendAPI: PublishableKey(publishableKey).frontendAPI, client: client, tokens: tokens)
    }

    /// Creates a client of a Frontend API.
    ///
    /// - Parameters:
    ///   - frontendAPI: The URL of what stands before `/v1`; a proxy may prepend path segments.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the client token and the id of the session.
    /// - Throws: `InvalidURL` when the text is no such URL.
    public init(frontendAPI: String, client: RecoveringClient, tokens: any TokenStore) throws(InvalidURL) {
        self.api = ClerkAPI(base: try FrontendAPI(frontendAPI), client: client, tokens: tokens)
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
        let watch = SignInWatch(responder, options: options, now: runtime.time.now)
        let flow = SignInFlow(answering: responder, options: options) { kind in
            watch.emit(kind, in: runtime)
        }
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

    /// The client as the server sees it now; nil when it has none.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked, or answers with something else than a client.
    public func currentClient() async throws -> ClerkClient? {
        try await api.readClient().client
    }

    /// The live session that the store names, as the server sees it now; nil when there is none.
    ///
    /// A session that has ended at the server is removed from the store; the client token stays, since it tells Clerk
    /// that this device is known.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked, or answers with something else than a client;
    ///   nothing is removed then.
    public func currentSession() async throws -> ClerkSession? {
        let stored = try await api.tokens.read().credentials
        guard stored.clientToken != nil, let id = stored.sessionID else { return nil }
        return try await api.liveSession(id)
    }

    /// Sends a request with the client's credentials, for what has no function of its own.
    ///
    /// Where the server says that the session is over, the client is read once. If the session is really gone, it is
    /// removed from the store and the error says that a person has to sign in; else, and where the client cannot be
    /// read, the error is the server's first one.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL, such as `/v1/me`.
    public func send(_ method: HTTPRequest.Method = .get, path: String) async throws -> Response {
        let sessionID = try await api.tokens.read().credentials.sessionID
        do {
            return try await api.send(ClerkAPI.Call(method: method, path: path, sessionID: sessionID))
        } catch let error as RecoveryError where error.remedies.contains(.resync) {
            guard let sessionID, error.reason != .identityChanged else { throw error }
            let isLive: Bool
            do {
                isLive = try await api.liveSession(sessionID) != nil
            } catch is RecoveryError {
                throw error
            }
            guard !isLive, error.kind == .credentialRejected else { throw error }
            var conclusion = error
            conclusion.outcome.kind = .reauthenticationRequired
            conclusion.outcome.remedies = [.reauthenticate]
            throw conclusion
        }
    }

    /// Signs out: ends one session, or all of the client.
    ///
    /// The store forgets the session once the server has ended it, or says that it is gone already. The client token
    /// stays: it tells Clerk that this device is known.
    ///
    /// - Parameter sessionID: The session to end; nil ends all sessions of the client.
    /// - Throws: `RecoveryError` when the server could not be told; the store then still names the session, so that
    ///   signing out can be tried again.
    public func signOut(sessionID: String? = nil) async throws {
        let stored = try await api.tokens.read().credentials
        var call = ClerkAPI.Call(method: .delete, path: "/v1/client/sessions")
        if let sessionID {
            call = ClerkAPI.Call(
                method: .post,
                path: "/v1/client/sessions/\(FormFields.encode(segment: sessionID))/remove",
                form: FormFields(),
                // Ending a session twice ends it once.
                resend: .replayable
            )
        }
        let calls = CallNumber()
        call.observer = { calls.observe($0) }
        // Without a client token there is nothing that the server could end.
        if stored.clientToken != nil {
            do {
                _ = try await api.send(call)
            } catch let error as RecoveryError where Self.saysGone(error) {
                // That is what was wanted.
            }
        }
        guard let held = stored.sessionID, sessionID == nil || sessionID == held else { return }
        try await api.forget(session: held, call: calls.latest)
    }

    /// Whether an error says that there is no such session, or no such client, any more.
    private static func saysGone(_ error: RecoveryError) -> Bool {
        switch error.kind {
        case .notFound, .credentialRejected, .reauthenticationRequired: true
        case .stateConflict: error.outcome.code == "client_not_found"
        default: false
        }
    }
}
