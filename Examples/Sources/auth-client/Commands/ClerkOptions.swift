import ArgumentParser

/// At whom people prove themselves to Clerk, and where their links lead.
struct ClerkOptions: ParsableArguments {
    @Option(
        name: .customLong("at"),
        help: ArgumentHelp(
            "Sign in at another identity provider in a browser, such as google, or enterprise_sso.",
            valueName: "provider"
        )
    )
    var place: String?

    @Option(
        name: .customLong("link-page"),
        help: ArgumentHelp(
            "Where the link of an e-mail leads that may be opened on any device; the server is asked until it was.",
            valueName: "url"
        )
    )
    var linkPage: String?

    @Option(
        help: ArgumentHelp(
            "The environment variable with a ticket to sign in or up with: of an invitation, or made by a backend.",
            valueName: "name"
        )
    )
    var ticketEnv: String?

    @Option(
        help: ArgumentHelp(
            "The environment variable with the ID token that the provider of --at (google, apple, …) has given out.",
            valueName: "name"
        )
    )
    var idTokenEnv: String?

    /// The way by which a code signs in whoever has an account, and signs up who has none.
    static let signInOrUp = "sign_in_or_up"

    /// Checks that a sign-in begins in one way, which is known.
    func check(way: String?, hasPassword: Bool) throws {
        guard let way else { return }
        guard way == Self.signInOrUp else { throw ValidationError("--way \(way) is not \(Self.signInOrUp).") }
        guard place == nil, ticketEnv == nil, !hasPassword else {
            throw ValidationError(
                "--way \(way) begins with a code, and not with --at, --ticket-env or --password-stdin."
            )
        }
    }

    /// Checks that the options fit the provider and the command.
    func check(for provider: ProviderName, command: CommandName, redirectURI: String?) throws {
        if command.isClerks, provider != .clerk {
            throw ValidationError("\(command.rawValue) belongs to --provider clerk.")
        }
        if ticketEnv != nil || idTokenEnv != nil {
            if provider != .clerk || !command.beginsSession {
                try Misplaced.refuse(
                    ["--ticket-env": ticketEnv != nil, "--id-token-env": idTokenEnv != nil],
                    belongingTo: "--provider clerk, sign-in and sign-up"
                )
            }
            guard idTokenEnv == nil || (place != nil && command == .signIn) else {
                throw ValidationError("--id-token-env belongs to sign-in, with --at: whose token it is.")
            }
            guard ticketEnv == nil || place == nil else {
                throw ValidationError("--ticket-env and --at: a session begins in one way.")
            }
        }
        if let linkPage {
            guard provider == .clerk, command == .signIn else {
                throw ValidationError("--link-page belongs to --provider clerk sign-in.")
            }
            guard !linkPage.isEmpty else { throw ValidationError("--link-page is empty.") }
            guard redirectURI == nil else {
                throw ValidationError("--link-page and --redirect-uri: a link leads to one place.")
            }
        }
        guard let place else { return }
        guard provider == .clerk else { throw ValidationError("--at belongs to --provider clerk.") }
        guard !place.isEmpty else { throw ValidationError("--at is empty.") }
        guard redirectURI?.isEmpty == false || idTokenEnv != nil else {
            throw ValidationError("--at needs --redirect-uri: where the browser comes back to.")
        }
    }
}
