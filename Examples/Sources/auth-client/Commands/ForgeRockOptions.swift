import ArgumentParser

/// Where somebody signs in at PingAM, and how.
struct ForgeRockOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The realm, such as alpha or alpha/customers. Default: root.", valueName: "realm"))
    var realm: String?

    @Option(help: ArgumentHelp("The journey to sign in with. Default: the realm's own.", valueName: "name"))
    var journey: String?

    @Option(
        name: .customLong("cookie-name"),
        help: ArgumentHelp("The name of the session's cookie. Default: what the server says.", valueName: "name")
    )
    var cookieName: String?

    @Option(help: ArgumentHelp("Go on with a suspended journey: the link that was mailed.", valueName: "link"))
    var resume: String?

    /// Checks that the options fit the provider and the command.
    func check(for provider: ProviderName, command: CommandName) throws {
        guard provider == .forgerock else {
            if [realm, journey, cookieName, resume].contains(where: { $0 != nil }) {
                throw ValidationError("--realm, --journey, --cookie-name and --resume belong to --provider forgerock.")
            }
            return
        }
        if resume != nil, command != .signIn { throw ValidationError("--resume belongs to sign-in.") }
        for (name, value) in [("--resume", resume), ("--cookie-name", cookieName), ("--journey", journey)]
        where value?.isEmpty == true {
            throw ValidationError("\(name) is empty.")
        }
    }
}
