public import HTTPRecovery
public import HTTPTypes

/// An authentication provider, as programs use it whichever it is: it signs people in, keeps their session, sends requests
/// with it, and ends it.
///
/// ```swift
/// func export(from provider: some AuthProvider, for name: String, asking person: some ChallengeResponder) async throws {
///     if try await provider.session() == nil {
///         _ = try await provider.signIn(identifier: name, answering: person)
///     }
///     print(try await provider.send(path: "/me", answering: person).status)
/// }
/// ```
///
/// What a provider has beside is in its own type. "Write a provider" tells how one is made.
public protocol AuthProvider<Session>: SignInProvider where Session: AuthSession {
    /// Keeps what a sign-in has obtained, and renews it if the provider can renew something.
    ///
    /// It belongs into the layers of a client that sends requests with these credentials by itself.
    var tokens: TokenManager { get }

    /// What accounts and credentials belong to.
    var origin: Origin { get }

    /// Sends the requests.
    var client: RecoveringClient { get set }

    /// A sign-in to be stepped; nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - identifier: The person's name; nil if they are asked, or the provider asks for none.
    ///   - password: The password; nil if it is asked for.
    ///   - options: How to deal with what goes wrong; nil for what suits the provider.
    func signInFlow(identifier: String?, password: Secret?, options: SignInOptions?) -> SignInFlow<Session>

    /// The session that is held, as the server sees it now; nil if there is none any more.
    ///
    /// What the server says is over is removed from the store.
    ///
    /// - Throws: `RecoveryError` if the server cannot be asked; nothing is removed then. `CancellationError` as soon as the
    ///   task is cancelled.
    func session() async throws -> Session?

    /// Renews what can be renewed.
    ///
    /// - Returns: The session then.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if a person has to sign in. `CancellationError`
    ///   as soon as the task is cancelled.
    func refresh() async throws -> Session

    /// Sends a request with the session's credential.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - responder: Answers what the server may ask before it lets the request pass, if the provider knows such
    ///     questions; nil leaves them to the caller.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if a person has to sign in. `CancellationError`
    ///   as soon as the task is cancelled.
    func send(
        _ request: ProviderRequest,
        answering responder: (any ChallengeResponder)?
    ) async throws -> RecoveredResponse

    /// Signs out: ends the session at the server, and forgets it. Without a session nothing is done.
    ///
    /// - Returns: Whether the server knows.
    /// - Throws: `RecoveryError` if the server could not be told, and the session is still held, so that signing out can be
    ///   tried again. `CancellationError` as soon as the task is cancelled.
    @discardableResult
    func signOut() async throws -> SignOutResult
}

extension AuthProvider {
    /// The same, for calls that belong to the operation: they have its number, and keep to its bounds.
    public func within(_ operation: RecoveryOperation) -> Self {
        var provider = self
        provider.client = client.within(operation)
        return provider
    }

    /// What is known about locked accounts.
    public var lockouts: LockoutLedger { LockoutLedger(runtime: client.runtime, origin: origin) }

    /// Signs in, through everything that can stand in the way.
    ///
    /// - Parameters:
    ///   - identifier: The person's name; nil if they are asked, or the provider asks for none.
    ///   - password: The password; nil if it is asked for.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong; nil for what suits the provider.
    /// - Returns: The session; what belongs to it is stored before this returns.
    /// - Throws: `RecoveryError` for what could not be recovered from, `Challenge.NoAnswer` if the responder had none,
    ///   `CancellationError` as soon as the task is cancelled.
    public func signIn(
        identifier: String? = nil,
        password: Secret? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions? = nil
    ) async throws -> Session {
        var flow = signInFlow(identifier: identifier, password: password, options: options)
        return try await flow.run(answering: responder)
    }

    /// Sends a request with the session's credential.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the provider's base URL; it may have a query.
    ///   - query: Further fields of the query.
    ///   - headerFields: Further header fields.
    ///   - body: The body; nil sends none.
    ///   - resend: What makes it safe to send the request again on doubt. Default: its method.
    ///   - responder: Answers what the server may ask before it lets the request pass; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if a person has to sign in. `CancellationError`
    ///   as soon as the task is cancelled.
    public func send(
        _ method: HTTPRequest.Method = .get,
        path: String,
        query: FormFields = FormFields(),
        headerFields: HTTPFields = [:],
        body: ProviderRequest.Content? = nil,
        resend: RequestOptions.ResendPermission = .byMethod,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws -> RecoveredResponse {
        let request = ProviderRequest(
            method,
            path: path,
            query: query,
            headerFields: headerFields,
            body: body,
            resend: resend
        )
        return try await send(request, answering: responder)
    }
}
