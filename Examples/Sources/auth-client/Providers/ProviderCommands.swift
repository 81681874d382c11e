import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// What the commands do at one provider.
protocol ProviderCommands: Sendable {
    /// Signs in.
    ///
    /// - Returns: The session; nil if none was to be made.
    func signIn(_ input: SignInInput) async throws -> Report.Session?

    /// The session, as the server sees it; throws if there is none.
    func status() async throws -> Report.Session

    /// Sends a request with the session's credential; its path is below the base URL.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - input: Answers what the server may ask before it lets the request pass; nil if nobody can.
    func send(_ request: ProviderRequest, answering input: SignInInput?) async throws -> RecoveredResponse

    /// What a request presents, renewed first if it has run out: the access token; where a session is all there is, what
    /// that is known by.
    ///
    /// - Parameter input: Answers what the server may ask before it renews; nil if nobody can.
    func token(answering input: SignInInput?) async throws -> Secret

    /// Renews the session's credential.
    ///
    /// - Parameter input: Answers what the server may ask before it renews; nil if nobody can.
    func refresh(answering input: SignInInput?) async throws -> Report.Session

    /// Ends the session.
    func signOut() async throws

    /// Carries out a command of the provider's own.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - argument: What stands behind it.
    ///   - input: Answers what is asked.
    func perform(_ command: CommandName, _ argument: String?, _ input: SignInInput) async throws -> OwnAnswer

    /// What keeps the session's tokens fresh; nil if nothing renews them by itself.
    var tokenManager: TokenManager? { get }
}

extension ProviderCommands {
    var tokenManager: TokenManager? { nil }

    func perform(_ command: CommandName, _ argument: String?, _ input: SignInInput) async throws -> OwnAnswer {
        throw InputError("\(command.rawValue) belongs to another provider")
    }
}

/// The commands at a provider, by what all providers have in common.
struct StandardCommands<Provider: AuthProvider>: ProviderCommands {
    let provider: Provider
    /// Tells the person something that is no failure.
    let notice: @Sendable (ScreenText) -> Void
    /// Carries out what only this provider has.
    var own: @Sendable (CommandName, String?, SignInInput) async throws -> OwnAnswer = { command, _, _ in
        throw InputError("\(command.rawValue) belongs to another provider")
    }
    /// Begins a sign-in with what is at hand, and goes all the way.
    let begin: @Sendable (SignInInput) async throws -> Provider.Session
    /// Renews, and answers what is asked for that; nil where nothing is.
    var renew: (@Sendable (SignInInput) async throws -> Provider.Session)?
    /// What a request presents where that is no access token of the store's; nil where it is.
    var presented: (@Sendable () async throws -> Secret)?

    func signIn(_ input: SignInInput) async throws -> Report.Session? {
        Report.Session(try await begin(input))
    }

    func status() async throws -> Report.Session {
        guard let session = try await provider.session() else { throw RecoveryError.notSignedIn }
        return Report.Session(session)
    }

    func send(_ request: ProviderRequest, answering input: SignInInput?) async throws -> RecoveredResponse {
        try await provider.send(request, answering: input?.responder)
    }

    func token(answering input: SignInInput?) async throws -> Secret {
        if let presented { return try await presented() }
        return try await provider.tokens.lastingAccessToken(by: provider.client) {
            if let input, let renew { _ = try await renew(input) } else { _ = try await provider.refresh() }
        }
    }

    func perform(_ command: CommandName, _ argument: String?, _ input: SignInInput) async throws -> OwnAnswer {
        try await own(command, argument, input)
    }

    func refresh(answering input: SignInInput?) async throws -> Report.Session {
        let renewed: Provider.Session
        if let input, let renew { renewed = try await renew(input) } else { renewed = try await provider.refresh() }
        guard renewed.summary.name == nil else { return Report.Session(renewed) }
        // What tells nothing by itself: the server knows whose it is.
        let known = try? await provider.session()
        try Task.checkCancellation()
        return Report.Session(known ?? renewed)
    }

    func signOut() async throws {
        guard case .endedHere = try await provider.signOut() else { return }
        notice("The service could not be reached: the session is forgotten here, and may live on there.")
        notice("The next status or sign-in that reaches the service ends it there, too.")
    }

    var tokenManager: TokenManager? { provider.tokens }
}

extension TokenManager {
    /// The access token, renewed first if it has run out.
    ///
    /// One that is about to run out is renewed, too, and serves on if that fails.
    ///
    /// - Parameters:
    ///   - client: Renews it.
    ///   - renew: Renews what has run out; throws if nothing came of it.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if a person has to sign in.
    func lastingAccessToken(by client: RecoveringClient, renewing renew: () async throws -> Void) async throws -> Secret
    {
        let held = try await store.read().credentials
        guard held.accessToken != nil || held.refreshToken != nil else { throw RecoveryError.notSignedIn }
        let now = client.runtime.time.wallTime
        let present: Credentials
        if held.accessToken == nil || held.expiresAt.map({ $0 <= now }) ?? false {
            try await renew()
            present = try await store.read().credentials
        } else {
            present = try await client.operation { try await credentials(for: $0.context).credentials }
        }
        guard let token = present.accessToken else { throw RecoveryError.notSignedIn }
        return token
    }
}

extension Report.Session {
    init(_ session: some AuthSession) {
        let summary = session.summary
        self.init(id: summary.name ?? "session", status: summary.status, expiresAt: summary.expiresAt)
    }
}

/// What the program begins with.
struct ProviderSetup: Sendable {
    let options: ClientOptionsValue
    /// Where the browser comes back to, with the port that is listened at; nil if none was named.
    let redirectURI: String?
    let tokens: any TokenStore
    let client: RecoveringClient
    /// Tells the person something that is no failure.
    let notice: @Sendable (ScreenText) -> Void
    /// Makes a client with the same transport and further layers.
    let makeClient: @Sendable (TokenManager, Origin) -> RecoveringClient
}

extension RecoveryError {
    /// There is no session: somebody has to sign in.
    static let notSignedIn: RecoveryError = {
        var outcome = Outcome(.reauthenticationRequired, processed: .no, remedies: [.reauthenticate])
        outcome.userMessage = "Nobody is signed in here."
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }()
}
