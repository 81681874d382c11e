import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// What the commands do at one provider.
protocol AuthProvider: Sendable {
    /// Signs in.
    func signIn(_ input: SignInInput) async throws -> Report.Session

    /// The session, as the server sees it; throws where there is none.
    func status() async throws -> Report.Session

    /// Requests a path below the base URL with the session's credential.
    func get(_ path: String) async throws -> RecoveredResponse

    /// The same, with answers for what the server may ask before it lets the request pass.
    func get(_ path: String, answering input: SignInInput?) async throws -> RecoveredResponse

    /// Renews the session's credential.
    func refresh() async throws -> Report.Session

    /// Ends the session.
    func signOut() async throws

    /// What keeps the session's tokens fresh; nil where nothing renews them by itself.
    var tokenManager: TokenManager? { get }
}

extension AuthProvider {
    var tokenManager: TokenManager? { nil }

    func get(_ path: String, answering input: SignInInput?) async throws -> RecoveredResponse {
        try await get(path)
    }
}

/// What the program begins with.
struct ProviderSetup: Sendable {
    let options: ClientOptionsValue
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
