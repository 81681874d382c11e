import AuthRecovery
import CommandLineSupport
import HTTPRecovery
import Locking

/// A server's endpoints: those that were named, and the server's own list for the others, which is asked for when one of
/// them is needed first.
final class OAuthEndpoints: TokenRenewer {
    private let issuer: String
    private let clientID: String
    private let secret: Secret?
    private let client: RecoveringClient
    private let named: [OAuthServer.Endpoint: String]
    private let byHand: OAuthServer
    private let hasBrowser: Bool
    private let found = Locked<OAuthServer?>(nil)

    init(_ setup: ProviderSetup, clientID: String) throws {
        var named: [OAuthServer.Endpoint: String] = [:]
        named[.token] = setup.options.tokenURL
        named[.deviceAuthorization] = setup.options.deviceURL
        do {
            byHand = try OAuthServer(endpoints: named)
        } catch {
            throw InputError("--token-url or --device-url: \(error)")
        }
        self.named = named
        self.clientID = clientID
        issuer = setup.options.baseURL
        secret = try setup.options.clientSecret()
        client = setup.client
        hasBrowser = setup.redirectURI != nil
    }

    /// The client of a server whose endpoints are known, as far as it has them.
    func client(for needed: OAuthServer.Endpoint...) async throws -> OAuthClient {
        try await oauth(needed, client)
    }

    private func oauth(_ needed: [OAuthServer.Endpoint], _ client: RecoveringClient) async throws -> OAuthClient {
        OAuthClient(
            server: try await server(needed, client),
            clientID: clientID,
            authentication: secret.map { .clientSecretBasic($0) } ?? .none,
            client: client
        )
    }

    private func server(_ needed: [OAuthServer.Endpoint], _ client: RecoveringClient) async throws -> OAuthServer {
        // Where both are named there is nothing else that is needed.
        if needed.allSatisfy({ named[$0] != nil }) || (named.count == 2 && !hasBrowser) { return byHand }
        if let found = found.withLock({ $0 }) { return found }
        let server = try await discover(client)
        found.withLock { $0 = server }
        return server
    }

    private func discover(_ client: RecoveringClient) async throws -> OAuthServer {
        let listed: OAuthServer
        do {
            listed = try await OAuthServer.discover(issuer: issuer, using: client)
        } catch let error as RecoveryError where !named.isEmpty && error.kind == .notFound {
            // A server without a list: what was named has to do.
            return byHand
        } catch let error as RecoveryError {
            throw told(error)
        }
        var endpoints = named
        for endpoint in [
            OAuthServer.Endpoint.authorization, .token, .deviceAuthorization, .revocation, .userInfo, .introspection,
        ]
        where endpoints[endpoint] == nil {
            endpoints[endpoint] = listed[endpoint]
        }
        return try OAuthServer(issuer: listed.issuer, endpoints: endpoints)
    }

    /// The error with what it is about, if it is the document, and with what helps.
    private func told(_ error: RecoveryError) -> RecoveryError {
        let problem: String? =
            switch error.kind {
            case .unreadable: "cannot be understood"
            case .notFound: "is not there"
            case .misconfigured where error.outcome.code == "issuer_mismatch":
                "names another issuer than --base-url does"
            default: nil
            }
        var error = error
        // It is no answer about what the command is for.
        error.response = nil
        guard let problem else { return error }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        error.outcome.userMessage = """
            The discovery document \(base)/.well-known/openid-configuration \(problem). --token-url names the token \
            endpoint, and --device-url that of a sign-in, where there is none.
            """
        return error
    }

    // MARK: Renewing

    var reuse: RefreshTokenGrant.Reuse { .undeclared }

    func canRenew(_ credentials: Credentials) -> Bool { credentials.refreshToken.map { !$0.isEmpty } ?? false }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        // What is asked for on the way keeps to the renewal's bounds.
        let oauth: OAuthClient
        do {
            oauth = try await self.oauth([.token], client.within(operation))
        } catch var error as RecoveryError {
            // The refresh token was not presented: whatever the list's place has said is not about it.
            (error.outcome.processed, error.outcome.tokenAction) = (.no, .keep)
            throw error
        }
        return try await RefreshTokenGrant(client: oauth).renew(credentials, in: operation)
    }
}
