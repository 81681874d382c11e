import AuthRecovery
import ClerkAuth
import CommandLineSupport
import HTTPRecovery

extension ProviderSetup {
    /// Clerk's Frontend API.
    func clerk() throws -> StandardCommands<Clerk> {
        let clerk: Clerk
        do {
            clerk = try Clerk(frontendAPI: options.baseURL, client: client, tokens: tokens)
        } catch {
            throw InputError("--base-url: \(error)")
        }
        return StandardCommands(provider: clerk, notice: notice) { input in
            try await clerk.signIn(
                identifier: input.identifier(),
                password: input.openingPassword(),
                answering: input.responder,
                options: input.options.bounding(SignInOptions())
            )
        }
    }
}
