import ArgumentParser
import OktaAuth

/// What a sign-in begins with, at the providers that have several ways.
struct WayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What a sign-in goes by. auth0: password, browser, device, or a way in without a password; default: password. \
            okta: authentication, identity-engine or direct; default: what the org runs on.
            """,
            valueName: "way"
        )
    )
    var way: String?

    /// Checks that the option fits the provider and the command.
    func check(for provider: ProviderName, command: CommandName) throws {
        guard way != nil else { return }
        guard provider == .auth0 || provider == .okta else {
            throw ValidationError("--way belongs to --provider auth0 or okta.")
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

    /// Checks that the options fit the provider and the command.
    func check(for provider: ProviderName, command: CommandName, way: String?, hasApp: Bool) throws {
        guard provider == .okta else {
            if rememberDevice || deviceToken != nil || issuer != nil {
                throw ValidationError("--remember-device, --device-token and --issuer belong to --provider okta.")
            }
            return
        }
        if rememberDevice, command != .signIn { throw ValidationError("--remember-device belongs to sign-in.") }
        if issuer != nil, !hasApp {
            throw ValidationError("--issuer needs --client-id, which obtains an app's tokens.")
        }
        guard let way else { return }
        guard let found = OktaConfiguration.Way(option: way) else {
            throw ValidationError("--way \(way) is none of authentication, identity-engine and direct.")
        }
        if found != .authentication, !hasApp {
            throw ValidationError("--way \(way) needs --client-id, which obtains an app's tokens.")
        }
    }
}

extension OktaConfiguration.Way {
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

    init(_ options: OktaOptions, way: String?) {
        self.way = way.flatMap { OktaConfiguration.Way(option: $0) } ?? .automatic
        remembersDevice = options.rememberDevice ? true : nil
        deviceToken = options.deviceToken
        issuer = options.issuer
    }
}
