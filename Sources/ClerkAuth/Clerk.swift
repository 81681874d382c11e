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
    /// answer is lost on the way, the sign-in fails rather than spends them again.
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
        let waits = WaitNotices(responder)
        var machine = ClerkSignInMachine(
            api: api,
            identifier: identifier,
            password: password,
            observer: waits.observe
        )
        let runtime = api.client.runtime
        let flow = SignInFlow(answering: responder, options: options) { kind in
            runtime.events.emit(RecoveryEvent(call: 0, time: runtime.time.now, kind: kind))
        }
        let opening = password.map { _ in Factor(key: .password, providerName: "password") }
        return try await flow.run(&machine, firstFactor: opening)
    }

    /// The client as the server sees it now; nil when it has none.
    public func currentClient() async throws -> ClerkClient? {
        try await ClerkClient.find(in: api.perform(ClerkAPI.Call(path: "/client")).json)
    }

    /// The live session that the store names, as the server sees it now; nil when there is none.
    ///
    /// A session that has ended at the server is removed from the store; the client token stays, since it tells Clerk
    /// that this device is known.
    public func currentSession() async throws -> ClerkSession? {
        let stored = try await api.tokens.read()
        guard stored.credentials.clientToken != nil else { return nil }
        let client = try await currentClient()
        let session = client?.liveSession(stored.credentials.sessionID)
        if session == nil { try await forgetSession(stored.credentials.sessionID) }
        return session
    }

    /// Sends a request with the client's credentials, for what has no function of its own.
    ///
    /// Where the server says that the session is over, the client is read once; if the session is really gone, it is
    /// removed from the store and the error says that a person has to sign in.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL, such as `/v1/me`.
    public func send(_ method: HTTPRequest.Method = .get, path: String) async throws -> Response {
        let stored = try await api.tokens.read()
        let relative = path.hasPrefix("/v1/") ? String(path.dropFirst(3)) : path.hasPrefix("/") ? path : "/" + path
        var query: [(String, String)] = []
        if relative.hasPrefix("/me"), let id = stored.credentials.sessionID { query.append(("_clerk_session_id", id)) }
        do {
            return try await api.send(ClerkAPI.Call(method: method, path: relative, query: query))
        } catch let error as RecoveryError where error.kind == .credentialRejected {
            guard let id = stored.credentials.sessionID else { throw error }
            guard try await currentSession()?.id != id else { throw error }
            var conclusion = error
            conclusion.outcome.kind = .reauthenticationRequired
            conclusion.outcome.remedies = [.reauthenticate]
            throw conclusion
        }
    }

    /// Signs out: ends one session, or all of the client.
    ///
    /// The store forgets the session once the server has ended it, or says that it is gone already.
    ///
    /// - Parameter sessionID: The session to end; nil ends all sessions of the client.
    public func signOut(sessionID: String? = nil) async throws {
        var call = ClerkAPI.Call(method: .delete, path: "/client/sessions")
        if let sessionID {
            call = ClerkAPI.Call(
                method: .post,
                path: "/client/sessions/\(FormFields.encode(sessionID))/remove",
                form: FormFields(),
                // Ending a session twice ends it once.
                resend: .replayable
            )
        }
        let stored = try await api.tokens.read().credentials.sessionID
        do {
            _ = try await api.send(call)
        } catch let error as RecoveryError where error.kind == .notFound || error.kind == .credentialRejected {
            // Gone already: that is what was wanted.
        }
        if sessionID == nil || sessionID == stored { try await forgetSession(stored) }
    }

    /// Removes the session from the store, if it is still that one.
    private func forgetSession(_ id: String?) async throws {
        guard let id else { return }
        let before = try await api.tokens.read()
        guard before.credentials.sessionID == id else { return }
        try await api.tokens.update { credentials in
            if credentials.sessionID == id { credentials.remove(.session) }
        }
        let runtime = api.client.runtime
        runtime.events.emit(RecoveryEvent(call: 0, time: runtime.time.now, kind: .clear(.session)))
    }
}
