import ArgumentParser
import Auth0Auth
import AuthRecovery
import ClerkAuth
import CommandLineSupport
import FacebookAuth
import ForgeRockAuth
import HTTPRecovery
import OktaAuth

/// Whose server it is: its words and its ways.
enum ProviderName: String, ExpressibleByArgument, CaseIterable {
    case clerk
    case oauth
    case okta
    case forgerock
    case facebook
    case auth0
    case http

    /// Tells what its answers mean.
    var classifier: any OutcomeClassifier {
        switch self {
        case .clerk: ClerkClassifier()
        case .oauth: OAuthClassifier()
        case .okta: OktaClassifier()
        case .forgerock: ForgeRockClassifier()
        case .facebook: FacebookClassifier()
        case .auth0: Auth0Classifier()
        case .http: HTTPClassifier()
        }
    }

    /// Whether only what is logged can be asked about, and no server.
    var servesNoServer: Bool { self == .http }

    /// Whether a sign-in sends the person's browser out, if there is a place to come back to.
    var sendsOut: Bool {
        switch self {
        case .clerk, .facebook, .auth0, .oauth: true
        case .okta, .forgerock, .http: false
        }
    }

    /// What the commands want to know of the app's registration there.
    var registration: Registration {
        switch self {
        case .oauth: .withEndpoints
        case .auth0: .required
        case .okta, .forgerock: .withRedirect
        case .facebook: .scopeAlone
        case .clerk, .http: .none
        }
    }

    /// Which of the options of an app's registration a provider has.
    enum Registration {
        /// A client id, and where the server's endpoints are.
        case withEndpoints
        /// A client id.
        case required
        /// A client id with a redirect URI, or neither.
        case withRedirect
        /// What is asked for, and nothing else.
        case scopeAlone
        case none
    }

    /// What the commands do there.
    func commands(_ setup: ProviderSetup) async throws -> any ProviderCommands {
        switch self {
        case .clerk: try setup.clerk()
        case .oauth: try await OAuthProvider(setup)
        case .okta: try setup.okta()
        case .forgerock: try ForgeRockProvider(setup)
        case .facebook: try setup.facebook()
        case .auth0: try setup.auth0()
        case .http: throw InputError("--provider \(rawValue) serves classify and explain alone")
        }
    }
}

extension ProviderSetup {
    /// An Auth0 tenant: the database login, and an app's tokens.
    func auth0() throws -> StandardCommands<Auth0> {
        var configuration = Auth0Configuration(
            clientID: options.clientID ?? "",
            clientSecret: try options.clientSecret()
        )
        if let scope = options.scope { configuration.scope = scope }
        configuration.redirectURI = redirectURI
        let auth0: Auth0
        do {
            auth0 = try Auth0(tenant: options.baseURL, client: client, tokens: tokens, configuration: configuration)
        } catch {
            throw InputError("--base-url: \(error)")
        }
        return StandardCommands(provider: auth0, notice: notice) { [configuration] input in
            func tell(_ code: Secret) {
                input.tell("Your recovery code is used up. Write down the new one: \(code.reveal())")
            }
            do {
                let options = input.options.bounding(SignInOptions())
                if configuration.redirectURI != nil {
                    let hint = input.options.identifier
                    return try await auth0.signIn(
                        .browser(loginHint: hint),
                        answering: input.responder,
                        options: options
                    )
                }
                let session = try await auth0.signIn(
                    identifier: input.identifier(),
                    password: input.openingPassword(),
                    answering: input.responder,
                    options: options
                )
                if let code = session.recoveryCode { tell(code) }
                return session
            } catch let error as Auth0UnkeptRecoveryCode {
                tell(error.recoveryCode)
                throw error.cause
            }
        }
    }
}
