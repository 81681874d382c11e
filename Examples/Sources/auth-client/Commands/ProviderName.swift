import ArgumentParser
import AuthRecovery
import ClerkAuth
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
    case http

    /// Tells what its answers mean.
    var classifier: any OutcomeClassifier {
        switch self {
        case .clerk: ClerkClassifier()
        case .oauth: OAuthClassifier()
        case .okta: OktaClassifier()
        case .forgerock: ForgeRockClassifier()
        case .facebook: FacebookClassifier()
        case .http: HTTPClassifier()
        }
    }

    /// Whether only what is logged can be asked about, and no server.
    var servesNoServer: Bool { self == .http }

    /// What the commands do there.
    func commands(_ setup: ProviderSetup) async throws -> any ProviderCommands {
        switch self {
        case .clerk: try setup.clerk()
        case .oauth: try await OAuthProvider(setup)
        case .okta: try setup.okta()
        case .forgerock: try ForgeRockProvider(setup)
        case .facebook: try setup.facebook()
        case .http: throw InputError("--provider \(rawValue) serves classify and explain alone")
        }
    }
}
