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
            begin: { try await Self.signIn(at: clerk, $0) }
        )
    }

    private static func signIn(at clerk: Clerk, _ input: SignInInput) async throws -> ClerkSession {
        let bounds = input.options.bounding(SignInOptions())
        if let place = input.options.place {
            return try await clerk.signIn(
                at: ClerkRedirect(named: place, identifier: input.options.identifier),
                answering: input.responder,
                options: bounds
            )
        }
        return try await clerk.signIn(
            identifier: input.identifier(),
            password: input.openingPassword(),
            answering: input.responder,
            options: bounds
        )
    }
}

extension ClerkRedirect {
    /// The way that a person means: Clerk's own name of it, or that of a social provider.
    fileprivate init(named name: String, identifier: String?) {
        let isStrategy = name.contains("_") || name == "saml"
        self.init(strategy: isStrategy ? name : "oauth_\(name)", identifier: identifier)
    }
}
