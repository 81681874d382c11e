import AuthRecovery
import ClerkAuth
import CurlTransport
import ForgeRockAuth
import HTTPRecovery
import OktaAuth

/// The examples of the README and of comments that need several of the products, compiled: the servers are none of ours.
private enum DocumentationExamples {
    static func clerk(
        _ client: RecoveringClient,
        _ email: String,
        _ password: Secret,
        _ prompts: some ChallengeResponder
    ) async throws -> ClerkSession {
        let clerk = try Clerk(publishableKey: "pk_live_…", client: client, tokens: FileTokenStore(path: "session.json"))
        let session = try await clerk.signIn(identifier: email, password: password, answering: prompts)
        return session
    }

    static func others(_ client: RecoveringClient, _ tokens: any TokenStore) throws -> (Okta, ForgeRock) {
        let okta = try Okta(org: "https://example.okta.com", client: client, tokens: FileTokenStore(path: "okta.json"))
        let pingAM = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: client,
            tokens: tokens,
            configuration: ForgeRockConfiguration(realm: "alpha", journey: "Login")
        )
        return (okta, pingAM)
    }

    static func api(_ server: OAuthServer, _ secret: Secret, _ client: RecoveringClient) -> RecoveringClient {
        let oauth = OAuthClient(
            server: server,
            clientID: "billing",
            authentication: .clientSecretBasic(secret),
            client: client
        )
        let tokens = TokenManager(store: FileTokenStore(path: "tokens.json"), renewer: RefreshTokenGrant(client: oauth))
        let api = RecoveringClient(transport: CurlTransport()) {
            Deadline(.seconds(30))
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)  // renews a refused token once for everybody, and replays the call once
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
            AttemptTimeout(.seconds(10))
        }
        return api
    }

    static func renewing(_ oauth: OAuthClient, path: String) -> RecoveringClient {
        let tokens = TokenManager(store: FileTokenStore(path: path), renewer: RefreshTokenGrant(client: oauth))
        let client = RecoveringClient(transport: CurlTransport()) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }
        return client
    }
}
