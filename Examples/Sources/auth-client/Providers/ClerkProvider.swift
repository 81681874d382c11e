import AuthRecovery
import ClerkAuth
import CommandLineSupport
import HTTPRecovery

/// Clerk's Frontend API.
struct ClerkProvider: AuthProvider {
    private let clerk: Clerk
    private let tokens: any TokenStore
    private let notice: @Sendable (ScreenText) -> Void

    init(_ setup: ProviderSetup) throws {
        do {
            self.clerk = try Clerk(frontendAPI: setup.options.baseURL, client: setup.client, tokens: setup.tokens)
        } catch {
            throw InputError("--base-url: \(error)")
        }
        self.tokens = setup.tokens
        self.notice = setup.notice
    }

    func signIn(_ input: SignInInput) async throws -> Report.Session {
        let identifier = try await input.identifier()
        let password = try await input.openingPassword()
        let session = try await clerk.signIn(
            identifier: identifier,
            password: password,
            answering: input.responder,
            options: input.options.bounding(SignInOptions())
        )
        return Report.Session(session)
    }

    func status() async throws -> Report.Session {
        guard let session = try await clerk.session() else { throw RecoveryError.notSignedIn }
        return Report.Session(session)
    }

    func get(_ path: String) async throws -> RecoveredResponse {
        try await clerk.send(path: path)
    }

    /// Clerk's client token is renewed by the server's answers: asking for the session is all there is to do.
    func refresh() async throws -> Report.Session {
        try await status()
    }

    func signOut() async throws {
        guard case .endedHere = try await clerk.signOut(sessionID: tokens.read().credentials.sessionID) else { return }
        notice("The service could not be reached: the session is forgotten here, and may live on there.")
        notice("The next status or sign-in that reaches the service ends it there, too.")
    }
}

extension Report.Session {
    init(_ session: ClerkSession) {
        self.init(id: session.id, status: session.status.rawValue, expiresAt: session.expireAt)
    }
}
