public import AuthRecovery

/// What an app wants of an Auth0 tenant beside its address.
public struct Auth0Configuration: Sendable {
    /// The app's client id.
    public var clientID: String
    /// The app's secret; nil, as by default, for a public client.
    public var clientSecret: Secret?
    /// How the app proves itself otherwise than by a secret, such as `PrivateKeyJWT` of `AuthCryptography` with the audience
    /// `issuer`; nil, as by default, by the secret if there is one.
    public var authentication: (any ClientAuthentication)?
    /// What verifies the signatures of ID tokens with the tenant's keys, those of renewed tokens too, such as
    /// `JSONWebKey.Verifier` of `AuthCryptography`; nil, as by default, leaves the checked connection to the tenant as the
    /// proof.
    ///
    /// The app has to sign with `RS256` or `PS256`: a signature by the app's secret is none that keys could tell.
    public var signatures: (any OAuthClient.SignatureVerifier)?
    /// What binds the app's tokens to a key (RFC 9449); nil, as by default, for bearer tokens.
    public var dpop: DPoPAuthorization.Binding?
    /// Who issues the tenant's tokens, where it is called by another address, as behind a gateway; nil, as by default, is the
    /// tenant's URL with a slash behind it.
    public var issuer: String?
    /// The database connection that people sign in with; nil, as by default, for the tenant's default directory.
    public var realm: String?
    /// The API that access tokens are for; nil, as by default, for the tenant's own.
    public var audience: String?
    /// What is asked for; default: `openid profile email offline_access`.
    public var scope: String
    /// The ways in without a password that the app has; default: none.
    ///
    /// A sign-in offers them to whoever has a name that they can reach and gives no password, and they stand in for a
    /// password that was leaked. Somebody who signs in by another connection than the database's is another person to the
    /// tenant, unless it links accounts.
    public var passwordless: [Passwordless]
    /// What makes and uses passkeys; nil, as by default, leaves that to the responder, who is shown the options of the
    /// ceremony as JSON (`Challenge.hint`) and answers with the credential as JSON.
    public var authenticator: (any WebAuthn.Authenticator)?
    /// Whether a code of the database makes an account for an address that has none; nil, as by default, leaves that to the
    /// tenant.
    public var allowsSignUp: Bool?
    /// Where the browser is sent back to after the tenant's own login page or a link, as the app has registered it; nil, as
    /// by default, for an app that uses neither.
    ///
    /// If it is set, a sign-in offers the login page, and goes there when the tenant takes a password for a robot's.
    public var redirectURI: String?
    /// Further parameters of the login page's address, such as `screen_hint` (with `signup` the page makes accounts), `prompt`,
    /// `connection` or `ui_locales`, but none that a sign-in has by itself; default: none.
    public var loginParameters: FormFields
    /// How long after its first use a rotated refresh token may be presented again, as the tenant's "reuse interval" says;
    /// 0 to 60 s; nil if the app's refresh tokens do not rotate, so that one is presented until it is refused.
    ///
    /// With 0, the default, a call whose renewal was not answered fails. The token is kept, and another call presents it once
    /// more within 30 s: if the tenant has replaced it, the session is over in any case.
    public var rotationLeeway: Duration?
    /// How long to wait between two questions whether a push was answered; at least 5 s, which is the default.
    public var pollInterval: Duration

    /// Creates a configuration.
    public init(
        clientID: String,
        clientSecret: Secret? = nil,
        authentication: (any ClientAuthentication)? = nil,
        signatures: (any OAuthClient.SignatureVerifier)? = nil,
        dpop: DPoPAuthorization.Binding? = nil,
        issuer: String? = nil,
        realm: String? = nil,
        audience: String? = nil,
        scope: String = "openid profile email offline_access",
        passwordless: [Passwordless] = [],
        authenticator: (any WebAuthn.Authenticator)? = nil,
        allowsSignUp: Bool? = nil,
        redirectURI: String? = nil,
        loginParameters: FormFields = FormFields(),
        rotationLeeway: Duration? = .zero,
        pollInterval: Duration = .seconds(5)
    ) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.authentication = authentication
        self.signatures = signatures
        self.dpop = dpop
        self.issuer = issuer
        self.realm = realm
        self.audience = audience
        self.scope = scope
        self.passwordless = passwordless
        self.authenticator = authenticator
        self.allowsSignUp = allowsSignUp
        self.redirectURI = redirectURI
        self.loginParameters = loginParameters
        self.rotationLeeway = rotationLeeway.map { min(max($0, .zero), .seconds(60)) }
        self.pollInterval = max(pollInterval, .seconds(5))
    }
}

extension Auth0Configuration {
    /// What is done with a refresh token whose use was not answered.
    var reuse: RefreshTokenGrant.Reuse {
        guard let rotationLeeway else { return .reusable }
        return rotationLeeway > .zero ? .rotating(grace: rotationLeeway) : .undeclared
    }

    /// How the app proves itself.
    var proof: any ClientAuthentication {
        if let authentication { return authentication }
        if let clientSecret { return .clientSecretPost(clientSecret) }
        return .none
    }

    /// A way in without a password.
    @nonexhaustive public enum Passwordless: String, Sendable, Hashable, CaseIterable {
        /// A code by e-mail, of the connection `email`.
        case emailCode = "email"
        /// A link by e-mail, of the connection `email`; it leads to ``Auth0Configuration/redirectURI``.
        ///
        /// The tenant binds it to no key of the app's, so the app should have a secret.
        case emailLink = "email_link"
        /// A code to a phone, of the connection `sms`.
        case phoneCode = "sms"
        /// A code by e-mail to a person of the database ``Auth0Configuration/realm``, which has to be set.
        case databaseEmailCode = "database_email"
        /// A code to the phone of a person of the database ``Auth0Configuration/realm``, which has to be set.
        case databasePhoneCode = "database_phone"
        /// A passkey; ``Auth0Configuration/authenticator`` has it, or the responder brings the outcome of the ceremony.
        ///
        /// The tenant has to be called by its own domain.
        case passkey
    }
}
