import AuthRecovery
import CommandLineSupport
import FacebookAuth
import HTTPRecovery

/// Facebook's Graph: a person's token, obtained by device login.
struct FacebookProvider: AuthProvider {
    private let options: ClientOptionsValue
    private let facebook: Facebook
    private let tokens: any TokenStore

    init(_ setup: ProviderSetup) throws {
        options = setup.options
        tokens = setup.tokens
        guard let appID = options.facebook.appID else { throw InputError("--app-id is missing") }
        let secret = try Environment.secret(options.facebook.appSecretEnv, option: "--app-secret-env")
        let clientToken = try Environment.secret(options.facebook.clientTokenEnv, option: "--client-token-env")
        let app = FacebookApp(
            id: appID,
            secret: secret,
            clientToken: clientToken,
            prover: secret.map { HMACAppSecretProver(appSecret: $0) }
        )
        var configuration = FacebookConfiguration()
        if let scope = options.scope {
            configuration.permissions = scope.split { $0 == " " || $0 == "," }.map(String.init)
        }
        do {
            facebook = try Facebook(
                app: app,
                graph: options.baseURL,
                client: setup.client,
                tokens: tokens,
                configuration: configuration
            )
        } catch {
            throw InputError("--base-url: \(error)")
        }
    }

    // MARK: Commands

    func signIn(_ input: SignInInput) async throws -> Report.Session {
        let session = try await facebook.signIn(
            answering: DeviceInstructions(input: input),
            options: options.bounding(SignInOptions())
        )
        return Report.Session(session)
    }

    func status() async throws -> Report.Session {
        guard let user = try await facebook.currentUser() else { throw RecoveryError.notSignedIn }
        let expiresAt = try await tokens.read().credentials.expiresAt
        return Report.Session(FacebookSession(user: user, expiresAt: expiresAt))
    }

    func get(_ path: String) async throws -> RecoveredResponse {
        try await facebook.send(path: path)
    }

    func refresh() async throws -> Report.Session {
        Report.Session(try await facebook.refresh())
    }

    func signOut() async throws {
        try await facebook.signOut()
    }

    var tokenManager: TokenManager? { facebook.tokens }
}

/// Tells the person where to enter which code.
private struct DeviceInstructions: ChallengeResponder {
    let input: SignInInput

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer { throw NoAnswer(challenge.key) }

    func show(_ challenge: Challenge) async {
        input.tell("To sign in, open \(challenge.factor.destination ?? "facebook.com/device")")
        input.tell("and enter the code  \(challenge.number ?? "")")
    }
}

extension Report.Session {
    /// The person stands for the session: the token opens it like a password.
    init(_ session: FacebookSession) {
        self.init(id: session.user?.id ?? "session", status: "active", expiresAt: session.expiresAt)
    }
}
