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
    func client(_ setup: ProviderSetup) async throws -> any AuthProvider {
        switch self {
        case .clerk: try ClerkProvider(setup)
        case .oauth: try await OAuthProvider(setup)
        case .okta: try OktaProvider(setup)
        case .forgerock: try ForgeRockProvider(setup)
        case .facebook: try FacebookProvider(setup)
        case .http: throw InputError("--provider \(rawValue) serves classify and explain alone")
        }
    }
}
