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
    ///
    /// Nil if the app's refresh tokens are persistent: then one is presented until it is refused.
    public var rotationGrace: Duration?
    /// Who issues the app's tokens, as their `iss` claim says it; nil, the default, for what the org's URL says:
    /// `https://example.okta.com` of the org's own authorization server, `https://example.okta.com/oauth2/default` of
    /// another one.
    ///
    /// It is needed where the authorization server calls itself otherwise than the org is called, as behind a domain of
    /// one's own: the server's settings in the admin console say by which of both names it issues tokens, and so does
    /// `issuer` in its discovery document. It is compared with ID tokens to the letter; requests go to the org's URL all
    /// the same. A sign-in whose ID token has another one fails with the code `issuer_mismatch`, and stores nothing.
    public var issuer: String?
    /// What verifies the signatures of ID tokens, such as `JSONWebKey.Verifier` of `AuthCryptography`; nil, the default,
    /// trusts the connection that they come by (OpenID Connect Core 1.0 section 3.1.3.7).
    public var signatures: (any OAuthClient.SignatureVerifier)?
    /// What binds the app's tokens to a key (RFC 9449); nil, the default, for bearer tokens.
    public var dpop: DPoPAuthorization.Binding?
    /// How strongly, and how lately, people have to prove themselves; by default the app's policy decides alone.
    public var assurance: OktaAssurance
    /// The grants of Direct Authentication that the app can go on with, by their URIs, as `grant_types_supported`;
    /// empty, the default, sends none.
    ///
    /// The org refuses a sign-in at its beginning then, before a password is known to be right, if the policy would
    /// want another grant; factors of others are not offered. Each of them has to be enabled for the app.
    public var grantTypesSupported: [String]

    /// Creates an app.
    ///
    /// - Parameters:
    ///   - clientID: The client id.
    ///   - redirectURI: Where the authorization endpoint sends its answer.
    ///   - scope: What is asked for; an ID token comes with `openid`, a refresh token with `offline_access`.
    ///   - authorizationServer: The authorization server's id; nil for the org's own.
    ///   - authentication: How the app proves itself.
    ///   - rotationGrace: How long a rotated refresh token is still good; clamped to 0…60 s. Nil if the app's tokens are
    ///     persistent.
    ///   - issuer: Who issues the tokens, if that is not what the org's URL says: see ``issuer``.
    ///   - signatures: What verifies the signatures of ID tokens, those of renewed tokens too.
    ///   - dpop: What binds the tokens to a key.
    ///   - assurance: How strongly, and how lately, people have to prove themselves.
    ///   - grantTypesSupported: The grants of Direct Authentication that the app can go on with.
    public init(
        clientID: String,
        redirectURI: String,
        scope: String = "openid offline_access",
        authorizationServer: String? = nil,
        authentication: any ClientAuthentication = .none,
        rotationGrace: Duration? = .seconds(30),
        issuer: String? = nil,
        signatures: (any OAuthClient.SignatureVerifier)? = nil,
        dpop: DPoPAuthorization.Binding? = nil,
        assurance: OktaAssurance = OktaAssurance(acrValues: nil),
        grantTypesSupported: [String] = []
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scope = scope
        self.authorizationServer = authorizationServer
        self.authentication = authentication
        self.issuer = issuer
        self.signatures = signatures
        self.dpop = dpop
        self.assurance = assurance
        self.grantTypesSupported = grantTypesSupported
        self.rotationGrace = rotationGrace.map { min(max($0, .zero), .seconds(60)) }
    }

    /// The client of the app at an org.
    func oauth(
        at org: OktaOrg,
        client: RecoveringClient,
        learning clocks: ServerClocks,
        for forwarding: OktaForwarding? = nil,
        judgedBy classifier: any OutcomeClassifier = OktaClassifier()
    ) throws(Origin.InvalidURL) -> OAuthClient {
        let base = "\(org.url)\(path(at: org))/v1"
        let layers: [(any ClientLayer)?] = [ServerClocks.Learning(clocks), forwarding, dpop?.layer(at: org.origin)]
        var oauth = OAuthClient(
            server: try OAuthServer(
                issuer: issuer(at: org),
                endpoints: [
                    .authorization: "\(base)/authorize", .token: "\(base)/token", .revocation: "\(base)/revoke",
                    .introspection: "\(base)/introspect", .userInfo: "\(base)/userinfo",
                    .interact: "\(base)/interact", .challenge: "\(base)/challenge",
                    .primaryAuthenticate: "\(base)/primary-authenticate",
                ]
            ),
            clientID: clientID,
            authentication: authentication,
            client: client,
            attemptLayers: layers.compactMap(\.self),
            classifier: classifier
        )
        if dpop != nil { oauth.policies = [DPoPAuthorization.NonceRetry()] }
        return oauth
    }

    /// The path of the authorization server below the org's URL.
    func path(at org: OktaOrg) -> String {
        "/oauth2" + (authorizationServer.map { "/" + FormFields.encode(segment: $0) } ?? "")
    }

    /// Who issues the app's tokens.
    func issuer(at org: OktaOrg) -> String {
        issuer ?? (authorizationServer == nil ? org.url : org.url + path(at: org))
    }
}
