import ArgumentParser

/// At whom people prove themselves to Clerk.
struct ClerkOptions: ParsableArguments {
    @Option(
        name: .customLong("at"),
        help: ArgumentHelp(
            "Sign in at another identity provider in a browser, such as google, or enterprise_sso.",
            valueName: "provider"
        )
    )
    var place: String?

    /// Checks that the options fit the provider.
    func check(for provider: ProviderName, redirectURI: String?) throws {
        guard let place else { return }
        guard provider == .clerk else { throw ValidationError("--at belongs to --provider clerk.") }
        guard !place.isEmpty else { throw ValidationError("--at is empty.") }
        guard redirectURI?.isEmpty == false else {
            throw ValidationError("--at needs --redirect-uri: where the browser comes back to.")
        }
    }
}
