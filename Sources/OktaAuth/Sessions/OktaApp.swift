public import AuthRecovery
import HTTPRecovery

/// An app that is registered at an org, for which a sign-in obtains tokens (authorization code with PKCE, RFC 7636).
public struct OktaApp: Sendable {
    /// The app's client id.
    public var clientID: String
    /// Where the authorization endpoint sends its answer; it is read, never opened.
    public var redirectURI: String
    /// What is asked for; default: `openid offline_access`.
    public var scope: String
    /// The authorization server's id, such as `default`; nil for the org's own.
    public var authorizationServer: String?
    /// How the app proves itself; by default it is a public client.
    public var authentication: any ClientAuthentication
    /// How long a refresh token that was rotated may be presented again after its answer was lost; 0 to 60 s, default:
    /// 30 s, as Okta's.
    public var rotationGrace: Duration

    /// Creates an app.
    public init(
        clientID: String,
        redirectURI: String,
        scope: String = "openid offline_access",
        authorizationServer: String? = nil,
        authentication: any ClientAuthentication = .none,
        rotationGrace: Duration = .seconds(30)
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scope = scope
        self.authorizationServer = authorizationServer
        self.authentication = authentication
        self.rotationGrace = min(max(rotationGrace, .zero), .seconds(60))
    }

    /// The client of the app at an org.
    func oauth(at org: OktaOrg, client: RecoveringClient) throws(Origin.InvalidURL) -> OAuthClient {
        let server = authorizationServer.map { "/" + FormFields.encode(segment: $0) } ?? ""
        let base = "\(org.url)/oauth2\(server)/v1"
        return OAuthClient(
            server: try OAuthServer(
                issuer: server.isEmpty ? org.url : "\(org.url)/oauth2\(server)",
                endpoints: [
                    .authorization: "\(base)/authorize", .token: "\(base)/token", .revocation: "\(base)/revoke",
                    .introspection: "\(base)/introspect", .userInfo: "\(base)/userinfo",
                    .interact: "\(base)/interact",
                ]
            ),
            clientID: clientID,
            authentication: authentication,
            client: client,
            classifier: OktaClassifier()
        )
    }
}
