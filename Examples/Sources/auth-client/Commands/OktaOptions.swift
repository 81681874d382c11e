import ArgumentParser
import CommandLineSupport
import OktaAuth

/// What a sign-in begins with, at the providers that have several ways.
struct WayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What a sign-in goes by. auth0: password, browser, device, sign_up (an account is made first), reset_password (a mail \
            with a link, and no sign-in), passkey, new_passkey, or another way in without a password; default: password. \
            okta: authentication, identity-engine or direct; default: what the org runs on. clerk: sign_in_or_up (a code, which \
            signs up whoever has no account).
            """,
            valueName: "way"
        ),
        completion: .list(Auth0Way.words + OktaConfiguration.Way.words + [ClerkOptions.signInOrUp])
    )
    var way: String?

    /// Checks that the option fits the provider and the command.
    func check(for provider: ProviderName, command: CommandName) throws {
        guard way != nil else { return }
        guard [.auth0, .okta, .clerk].contains(provider) else {
            throw ValidationError("--way belongs to --provider auth0, okta or clerk.")
        }
        if command != .signIn { throw ValidationError("--way belongs to sign-in.") }
    }
}

/// How somebody signs in to an Okta org, and from which device.
struct OktaOptions: ParsableArguments {
    @Flag(help: "Have the org remember this device, so that it does not ask for the second factor again.")
    var rememberDevice = false

    @Option(
        name: .customLong("device-token"),
        help: ArgumentHelp(
            "What the org knows this device by, kept in this file (mode 0600); without a file one is made.",
            valueName: "file"
        ),
        completion: .file()
    )
    var deviceToken: String?

    @Option(
        help: ArgumentHelp(
            "Who issues the app's tokens, if that is not the org's URL, as behind a domain of one's own.",
            valueName: "url"
        )
    )
    var issuer: String?

    @Option(
        help: ArgumentHelp(
            "How strongly people prove themselves for the app, such as urn:okta:loa:2fa:any; several with blanks between.",
            valueName: "values"
        )
    )
    var acrValues: String?

    @Option(help: ArgumentHelp("How long ago people may have proved themselves for the app.", valueName: "seconds"))
    var maxAge: Int?

    @Option(
        help: ArgumentHelp(
            "The environment variable with the token of a link that recovers a password or unlocks an account.",
            valueName: "name"
        )
    )
    var recoveryTokenEnv: String?

    @Option(
        help: ArgumentHelp(
            "The environment variable with the token of a link that activates an account.",
            valueName: "name"
        )
    )
    var activationTokenEnv: String?

    /// Checks that the options fit the provider and the command.
    func check(for provider: ProviderName, command: CommandName, way: String?, hasApp: Bool) throws {
        guard provider == .okta else {
            return try Misplaced.refuse(
                [
                    "--remember-device": rememberDevice, "--device-token": deviceToken != nil,
                    "--issuer": issuer != nil,
                    "--acr-values": acrValues != nil, "--max-age": maxAge != nil,
                    "--recovery-token-env": recoveryTokenEnv != nil,
                    "--activation-token-env": activationTokenEnv != nil,
                ],
                belongingTo: "--provider okta"
            )
        }
        if command != .signIn {
            try Misplaced.refuse(
                [
                    "--remember-device": rememberDevice, "--recovery-token-env": recoveryTokenEnv != nil,
                    "--activation-token-env": activationTokenEnv != nil,
                ],
                belongingTo: "sign-in"
            )
        }
        guard recoveryTokenEnv == nil || activationTokenEnv == nil else {
            throw ValidationError("--recovery-token-env and --activation-token-env: a sign-in begins in one way.")
        }
        if let maxAge, maxAge < 0 { throw ValidationError("--max-age: the seconds are negative.") }
        if !hasApp {
            try Misplaced.refuse(
                ["--acr-values": acrValues != nil, "--max-age": maxAge != nil, "--issuer": issuer != nil],
                needing: "--client-id, which obtains an app's tokens"
            )
        }
        guard let way else { return }
        guard let found = OktaConfiguration.Way(option: way) else {
            throw ValidationError("--way \(way) is none of \(Misplaced.list(OktaConfiguration.Way.words)).")
        }
        if found != .authentication, !hasApp {
            throw ValidationError("--way \(way) needs --client-id, which obtains an app's tokens.")
        }
    }
}

extension OktaConfiguration.Way {
    /// What the option may say.
    static let words = ["authentication", "identity-engine", "direct"]

    init?(option: String) {
        switch option {
        case "authentication": self = .authentication
        case "identity-engine": self = .identityEngine
        case "direct": self = .directAuthentication
        default: return nil
        }
    }
}

/// The options for Okta as plain values.
struct OktaValue: Sendable {
    let way: OktaConfiguration.Way
    let remembersDevice: Bool?
    let deviceToken: String?
    let issuer: String?
    /// How strongly and how lately somebody has to prove themselves; nil leaves it to the app's policy.
    let assurance: OktaAssurance?
    let recoveryTokenEnv: String?
    let activationTokenEnv: String?

    init(_ options: OktaOptions, way: String?) {
        self.way = way.flatMap { OktaConfiguration.Way(option: $0) } ?? .automatic
        remembersDevice = options.rememberDevice ? true : nil
        deviceToken = options.deviceToken
        issuer = options.issuer
        let maxAge = options.maxAge.map { Duration.seconds($0) }
        let isDemanding = options.acrValues != nil || maxAge != nil
        assurance = isDemanding ? OktaAssurance(acrValues: options.acrValues, maxAge: maxAge) : nil
        recoveryTokenEnv = options.recoveryTokenEnv
        activationTokenEnv = options.activationTokenEnv
    }

    /// The token of a link to begin with; nil if none is named.
    ///
    /// - Throws: ``InputError`` for a variable that is empty.
    func linkToken() throws -> OktaLinkToken? {
        if let token = try Environment.secret(recoveryTokenEnv, option: "--recovery-token-env") {
            return .recovery(token)
        }
        return try Environment.secret(activationTokenEnv, option: "--activation-token-env").map { .activation($0) }
    }
}
