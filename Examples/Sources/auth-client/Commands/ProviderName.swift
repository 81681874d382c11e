import ArgumentParser
import AuthRecovery
import ClerkAuth
import HTTPRecovery

/// Whose server it is: its words and its ways.
enum ProviderName: String, ExpressibleByArgument, CaseIterable {
    case clerk
    case oauth
    case http

    /// Tells what its answers mean.
    var classifier: any OutcomeClassifier {
        switch self {
        case .clerk: ClerkClassifier()
        case .oauth: OAuthClassifier()
        case .http: HTTPClassifier()
        }
    }

    /// What the commands do there.
    func client(_ setup: ProviderSetup) async throws -> any AuthProvider {
        switch self {
        case .clerk: try ClerkProvider(setup)
        case .oauth: try await OAuthProvider(setup)
        case .http: throw InputError("--provider http serves classify alone")
        }
    }
}
