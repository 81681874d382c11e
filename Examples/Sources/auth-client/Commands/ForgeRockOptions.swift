import ArgumentParser
import CommandLineSupport
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

    @Option(
        name: .customLong("auth-index"),
        help: ArgumentHelp(
            "Begin with something else than a journey's name: level, role, resource, user or module, and its value.",
            valueName: "type=value"
        )
    )
    var authIndex: String?

    @Flag(name: .customLong("force-auth"), help: "Sign in although there is a session.")
    var forcesAuthentication = false

    @Flag(name: .customLong("no-session"), help: "Only confirm who it is: no session is made.")
    var skipsSession = false

    @Flag(name: .customLong("upgrade-session"), help: "Make the session that is kept stronger.")
    var upgradesSession = false

    @Flag(
        name: .customLong("zero-page"),
        help: "Present name and password with the first request; the server has to allow it."
    )
    var presentsLoginAtOnce = false

    @Option(
        name: .customLong("device-name"),
        help: ArgumentHelp("What a new security key is called at the server, and this device.", valueName: "name")
    )
    var deviceName: String?

    @Option(
        name: .customLong("identity-provider"),
        help: ArgumentHelp(
            "Where to sign in at a provider that the journey leaves to its clients; may be repeated.",
            valueName: "name=url"
        )
    )
    var identityProviders: [String] = []

    @Option(
        name: .customLong("return-uri"),
        help: ArgumentHelp(
            "Where on this machine a browser comes back from a page that does not say so itself, as for SAML.",
            valueName: "uri"
        )
    )
    var returnURI: String?

    /// Whether the sign-in is begun in another way than by default.
    private var beginsOtherwise: Bool {
        authIndex != nil || forcesAuthentication || skipsSession || upgradesSession || presentsLoginAtOnce
    }

    /// Refuses what says how a sign-in begins.
    private func refuseBeginnings(belongingTo owner: String) throws {
        try Misplaced.refuse(
            [
                "--auth-index": authIndex != nil, "--force-auth": forcesAuthentication, "--no-session": skipsSession,
                "--upgrade-session": upgradesSession, "--zero-page": presentsLoginAtOnce, "--resume": resume != nil,
            ],
            belongingTo: owner
        )
    }

    /// Checks that the options fit the provider and the command.
    func check(for provider: ProviderName, command: CommandName) throws {
        guard provider == .forgerock else {
            try refuseBeginnings(belongingTo: "--provider forgerock")
            return try Misplaced.refuse(
                [
                    "--realm": realm != nil, "--journey": journey != nil, "--cookie-name": cookieName != nil,
                    "--device-name": deviceName != nil, "--identity-provider": !identityProviders.isEmpty,
                    "--return-uri": returnURI != nil,
                ],
                belongingTo: "--provider forgerock"
            )
        }
        if command != .signIn { try refuseBeginnings(belongingTo: "sign-in") }
        if resume != nil, beginsOtherwise {
            throw ValidationError("--resume goes on with a journey that has begun: how it begins was said then.")
        }
        if let returnURI, command != .signIn || !LoopbackListener.isLocal(returnURI) {
            throw ValidationError("--return-uri belongs to sign-in, and is an address of this machine.")
        }
        if authIndex != nil, journey != nil { throw ValidationError("--journey or --auth-index, not both.") }
        for (name, value) in [
            ("--resume", resume), ("--cookie-name", cookieName), ("--journey", journey), ("--device-name", deviceName),
        ] where value?.isEmpty == true {
            throw ValidationError("\(name) is empty.")
        }
        _ = try start
        for (_, url) in try endpoints {
            guard (try? HTTPRequest(url: url)) != nil else {
                throw ValidationError("--identity-provider takes name=url, and \(url) is no URL.")
            }
        }
    }

    /// What the journey begins with; nil for what is set up.
    var start: JourneyStart? {
        get throws {
            guard let authIndex else { return nil }
            let (type, value) = try Self.pair(authIndex, of: "--auth-index", as: "type=value")
            let types = ["service", "level", "role", "resource", "user", "module"]
            guard types.contains(type) else {
                throw ValidationError("--auth-index takes type=value, with one of \(types.joined(separator: ", ")).")
            }
            return type == "service" ? .service(value) : .index(type: type, value: value)
        }
    }

    /// The authorization endpoints of identity providers, by their names.
    var endpoints: [String: String] {
        get throws {
            let pairs = try identityProviders.map { try Self.pair($0, of: "--identity-provider", as: "name=url") }
            return Dictionary(pairs, uniquingKeysWith: { $1 })
        }
    }

    private static func pair(_ text: String, of option: String, as form: String) throws -> (String, String) {
        let halves = text.split(separator: "=", maxSplits: 1)
        guard halves.count == 2 else { throw ValidationError("\(option) takes \(form).") }
        return (String(halves[0]), String(halves[1]))
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
