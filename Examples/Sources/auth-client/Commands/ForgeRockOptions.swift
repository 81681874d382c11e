import ArgumentParser
import ForgeRockAuth
import HTTPRecovery
import HTTPTypes

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

    @Option(
        help: ArgumentHelp(
            "Go on with a suspended journey: the link that was mailed, or its suspendedId alone.",
            valueName: "link"
        )
    )
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

    /// Checks that the link belongs to the server that is asked, since its id is sent there.
    func checkLink(against base: HTTPRequest) throws {
        guard let resume else { return }
        guard resume.contains("://") else {
            // An id is a word of the server's; anything else was meant to be a link.
            let isWord = resume.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/?#&\"<>\\".utf8.contains($0) }
            if !isWord { throw ValidationError("--resume takes a link or an id, and this is neither.") }
            return
        }
        let link: HTTPRequest
        do {
            _ = try JourneyStart.resuming(resume)
            link = try HTTPRequest(url: resume)
        } catch {
            throw ValidationError("--resume: \(error)")
        }
        guard Origin(of: link) == Origin(of: base) else {
            throw ValidationError(
                "--resume: the link leads to another server than --base-url. Its suspendedId alone is taken too."
            )
        }
    }
}
