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

    /// Requests a path below the base URL with the session's credential.
    ///
    /// - Parameter input: Answers what the server may ask before it lets the request pass; nil if nobody can.
    func get(_ path: String, answering input: SignInInput?) async throws -> RecoveredResponse

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

    func signIn(_ input: SignInInput) async throws -> Report.Session? {
        Report.Session(try await begin(input))
    }

    func status() async throws -> Report.Session {
        guard let session = try await provider.session() else { throw RecoveryError.notSignedIn }
        return Report.Session(session)
    }

    func get(_ path: String, answering input: SignInInput?) async throws -> RecoveredResponse {
        try await provider.send(path: path, answering: input?.responder)
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
        outcome.userMessage = "Nobody is signed in here. The command sign-in begins a session."
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }()
}
