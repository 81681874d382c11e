import AuthRecovery
import CommandLineSupport
import FacebookAuth
import HTTPRecovery

extension ProviderSetup {
    /// Facebook's Graph: a person's token, obtained in a browser, or by device login.
    func facebook() async throws -> StandardCommands<Facebook> {
        guard let appID = options.facebook.appID else { throw InputError("--app-id is missing") }
        let secret = try Environment.secret(options.facebook.appSecretEnv, option: "--app-secret-env")
        let app = FacebookApp(
            id: appID,
            secret: secret,
            clientToken: try Environment.secret(options.facebook.clientTokenEnv, option: "--client-token-env"),
            prover: secret.map { HMACAppSecretProver(appSecret: $0) }
        )
        var configuration = FacebookConfiguration()
        if let scope = options.scope {
            configuration.permissions = scope.split { $0 == " " || $0 == "," }.map(String.init)
        }
        configuration.webLogin = redirectURI.map { FacebookConfiguration.WebLogin(redirectURI: $0) }
        let isInBrowser = configuration.webLogin != nil
        let facebook: Facebook
        do {
            facebook = try Facebook(
                app: app,
                graph: options.baseURL,
                client: client,
                tokens: tokens,
                configuration: configuration
            )
        } catch {
            throw InputError("--base-url: \(error)")
        }
        if options.facebook.fetchesErrors {
            do {
                try await facebook.loadErrorConfiguration()
            } catch let error as RecoveryError {
                // Without it the library's own table judges, as it does without the option.
                notice("The app's table of errors could not be fetched: \(error.userMessage, limit: 300)")
            }
        }
        return StandardCommands(provider: facebook, notice: notice) { input in
            let session = try await facebook.signIn(
                authType: input.options.facebook.authType,
                answering: isInBrowser ? input.responder : DeviceInstructions(input: input),
                options: input.options.bounding(SignInOptions())
            )
            let declined = session.permissions.filter { $0.status == .declined }.map(\.name)
            if !declined.isEmpty {
                input.tell("Declined: \(declined.joined(separator: ", "), limit: 500).")
                // Only the dialog asks again; a device login has none.
                let place = isInBrowser ? "" : " in a browser, with --redirect-uri"
                input.tell("sign-in --auth-type rerequest asks for that again\(place).")
            }
            return session
        }
    }
}

/// Tells the person where to enter which code.
private struct DeviceInstructions: ChallengeResponder {
    let input: SignInInput

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer { throw Challenge.NoAnswer(challenge.key) }

    func show(_ challenge: Challenge) async {
        input.tell("To sign in, open \(challenge.factor.destination ?? "facebook.com/device")")
        input.tell("and enter the code  \(challenge.number ?? "")")
    }
}
