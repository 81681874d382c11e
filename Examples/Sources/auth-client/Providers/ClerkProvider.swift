import AuthRecovery
import ClerkAuth
import CommandLineSupport
import HTTPRecovery

extension ProviderSetup {
    /// Clerk's Frontend API.
    func clerk() throws -> StandardCommands<Clerk> {
        var configuration = ClerkConfiguration()
        configuration.redirectURL = options.linkPage ?? redirectURI
        configuration.waitsForLinks = options.linkPage != nil
        configuration.authenticator = try options.softwareKey.map { try KeptAuthenticator(path: $0) }
        let clerk: Clerk
        do {
            clerk = try Clerk(
                frontendAPI: options.baseURL,
                client: client,
                tokens: tokens,
                configuration: configuration
            )
        } catch {
            throw InputError("--base-url: \(error)")
        }
        return StandardCommands(
            provider: clerk,
            notice: notice,
            own: { try await clerk.perform($0, $1, $2) },
            begin: { try await Self.signIn(at: clerk, $0) },
            presented: {
                let token = try await clerk.sessionToken()
                if token.isPending { notice("This is the token of a session that is pending. \(ClerkTask.advice)") }
                return token.jwt
            }
        )
    }

    private static func signIn(at clerk: Clerk, _ input: SignInInput) async throws -> ClerkSession {
        let bounds = input.options.bounding(SignInOptions())
        if let ticket = try Environment.secret(input.options.ticketEnv, option: "--ticket-env") {
            return try await clerk.signIn(ticket: ticket, answering: input.responder, options: bounds)
        }
        if let place = input.options.place {
            let redirect = ClerkRedirect(named: place, identifier: input.options.identifier)
            guard let token = try Environment.secret(input.options.idTokenEnv, option: "--id-token-env") else {
                return try await clerk.signIn(at: redirect, answering: input.responder, options: bounds)
            }
            let method = ClerkSignInMethod.token(token, strategy: redirect.tokenStrategy)
            var flow = clerk.signInFlow(method, options: bounds)
            return try await flow.run(answering: input.responder)
        }
        if input.options.signsInOrUp {
            return try await clerk.signInOrUp(
                identifier: input.identifier(),
                answering: input.responder,
                options: bounds
            )
        }
        while true {
            do {
                return try await clerk.signIn(
                    identifier: input.identifier(),
                    password: input.openingPassword(),
                    answering: input.responder,
                    options: bounds
                )
            } catch let error as RecoveryError
                where error.outcome.code == "form_identifier_not_found" && input.asksForIdentifier
            {
                // A typing error, most likely: nothing was spent, and who sits there can say who they meant.
                input.tell("\(error.userMessage, limit: 500)")
            }
        }
    }
}

extension ClerkRedirect {
    /// The way that a person means: Clerk's own name of it, or that of a social provider.
    init(named name: String, identifier: String?) {
        let isStrategy = name.contains("_") || name == "saml"
        self.init(strategy: isStrategy ? name : "oauth_\(name)", identifier: identifier)
    }

    /// Clerk's name of the way in which the provider's own token is presented.
    fileprivate var tokenStrategy: String {
        switch strategy {
        case "oauth_google", "google_one_tap": "google_one_tap"
        case let name where name.hasPrefix("oauth_token_"): name
        case let name where name.hasPrefix("oauth_"): "oauth_token_" + name.dropFirst("oauth_".count)
        default: strategy
        }
    }
}
