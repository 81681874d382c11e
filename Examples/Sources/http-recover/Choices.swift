import ArgumentParser
import AsyncHTTPClientTransport
import Auth0Auth
import AuthRecovery
import ClerkAuth
import CurlTransport
import FacebookAuth
import ForgeRockAuth
import HTTPRecovery
import OktaAuth

/// Whose classifier tells what an answer means.
enum ProviderChoice: String, ExpressibleByArgument, CaseIterable {
    case http
    case oauth
    case clerk
    case okta
    case forgerock
    case facebook
    case auth0

    /// The classifier.
    var classifier: any OutcomeClassifier {
        switch self {
        case .http: HTTPClassifier()
        case .oauth: OAuthClassifier()
        case .clerk: ClerkClassifier()
        case .okta: OktaClassifier()
        case .forgerock: ForgeRockClassifier()
        case .facebook: FacebookClassifier()
        case .auth0: Auth0Classifier()
        }
    }

    /// What keeps calls below the provider's limits, if it reports them on successes or states no times; nil for none.
    var pacing: FacebookPacing? {
        switch self {
        case .facebook: FacebookPacing()
        case .http, .oauth, .clerk, .okta, .forgerock, .auth0: nil
        }
    }
}

/// What performs the attempts.
enum TransportChoice: String, ExpressibleByArgument, CaseIterable {
    case curl
    case ahc
}

/// What performs the attempts, set up.
enum TransportPlan: Sendable {
    case curl(CurlTransport.Configuration)
    case ahc(AsyncHTTPClientTransport.Configuration)

    /// The time that a connection may take.
    var connectTimeout: Duration {
        switch self {
        case .curl(let configuration): configuration.connectTimeout
        case .ahc(let configuration): configuration.connectTimeout
        }
    }

    /// Asks for no compressed answers, and decodes none.
    mutating func leaveBodiesEncoded() {
        switch self {
        case .curl(var configuration):
            configuration.decompresses = false
            self = .curl(configuration)
        case .ahc(var configuration):
            configuration.decompresses = false
            self = .ahc(configuration)
        }
    }

    /// The transport.
    func makeTransport() -> any HTTPTransport {
        switch self {
        case .curl(let configuration): CurlTransport(configuration: configuration)
        case .ahc(let configuration): AsyncHTTPClientTransport(configuration: configuration)
        }
    }
}

/// The version of HTTP to speak.
enum HTTPVersionChoice: String, EnumerableFlag {
    case http1
    case http2
    case http3

    static func name(for value: HTTPVersionChoice) -> NameSpecification {
        switch value {
        case .http1: .customLong("http1.1")
        case .http2: .customLong("http2")
        case .http3: .customLong("http3")
        }
    }

    static func help(for value: HTTPVersionChoice) -> ArgumentHelp? {
        switch value {
        case .http1: "Speak HTTP/1.1 alone."
        case .http2: "Offer HTTP/2 over TLS."
        case .http3: "Offer HTTP/3, if libcurl has it."
        }
    }
}
