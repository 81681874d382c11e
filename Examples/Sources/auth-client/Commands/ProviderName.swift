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

    /// The options without which no server of its kind can be asked: what each means, and how it may look.
    var needs: [(option: String, meaning: String, example: String)] {
        switch self {
        case .clerk: [("--base-url", "what stands before /v1", "https://clerk.example.com")]
        case .oauth: [("--base-url", "the issuer", "https://id.example.com"), ("--client-id", "the app", "cli")]
        case .okta: [("--org", "the org's URL", "https://example.okta.com")]
        case .forgerock: [("--base-url", "what stands before /json", "https://id.example.com/am")]
        case .facebook:
            [
                ("--base-url", "what stands before the version", "https://graph.facebook.com"),
                ("--app-id", "the app", "1234"),
            ]
        case .auth0:
            [("--base-url", "the tenant's URL", "https://example.eu.auth0.com"), ("--client-id", "the app", "abc")]
        case .http: []
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
        /// A client id, and perhaps a redirect URI.
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
        case .oauth: try OAuthProvider(setup)
        case .okta: try setup.okta()
        case .forgerock: try ForgeRockProvider(setup)
        case .facebook: try await setup.facebook()
        case .auth0: try setup.auth0()
        case .http: throw InputError("--provider \(rawValue) serves classify and explain alone")
        }
    }
}
