public import AuthRecovery
public import HTTPRecovery

/// What a program wants of PingAM beside its address.
public struct ForgeRockConfiguration: Sendable {
    /// The realm, such as `alpha` or `alpha/customers`; empty, as by default, for the root realm.
    public var realm: String
    /// The journey to sign in with; nil, as by default, for the realm's default one.
    public var journey: String?
    /// How the session is exchanged for tokens; nil, as by default, if only the session is used.
    public var oauth: OAuthSettings?
    /// Answers WebAuthn ceremonies; nil, as by default, on a machine without one, and then journeys are told so at once.
    public var authenticator: (any WebAuthn.Authenticator)?
    /// Whether the outcome of a WebAuthn ceremony is asked for if there is no authenticator, as by a web backend whose browsers
    /// have one; default: no, and journeys are told so at once.
    ///
    /// The question has the options in its hint, as a browser takes them in JSON. Answers are the credential in JSON as the
    /// browser tells it, `unsupported`, or an outcome as it is sent.
    public var asksForWebAuthn: Bool
    /// What a new WebAuthn credential is called at the server; nil, as by default, leaves that to the server.
    public var deviceName: String?
    /// The origin that WebAuthn ceremonies are carried out for, such as `https://login.example.com`; nil, as by default, is
    /// that of the base URL.
    public var origin: String?
    /// What is told of this installation to a node that collects profiles of devices, as such a node takes it: `identifier`,
    /// `metadata`, `location`; nil, as by default, tells the platform, ``deviceName`` and a random identifier, which is kept with
    /// the tokens.
    public var deviceProfile: JSONValue?
    /// Keys of this device that journeys bind to accounts and have sign; nil, as by default, on a machine without such keys, and
    /// then journeys are told so.
    public var deviceKeys: (any Credentials.DeviceKeys)?
    /// The URLs of the authorization endpoints of identity providers, by the names that the server has for them.
    ///
    /// Default: none. They are for journeys that leave it to the app to sign in there; where the server sends people there itself, nothing
    /// has to be named.
    public var identityProviders: [String: String]
    /// Answers callbacks before a sign-in looks at them; by default nothing does.
    ///
    /// It is asked after the one that a sign-in was given, and also in a sign-in that was suspended and taken up again.
    public var callbacks: any JourneyCallbackResponder
    /// The name of the session's cookie; nil, as by default, lets the server tell it.
    ///
    /// While it does not, the usual name is assumed, and no refusal under it counts as the end of a session.
    public var cookieName: String?
    /// Change requests before they go out, in this order; by default nothing does.
    public var interceptors: [any ForgeRockInterceptor]

    /// Creates a configuration.
    public init(
        realm: String = "",
        journey: String? = nil,
        oauth: OAuthSettings? = nil,
        authenticator: (any WebAuthn.Authenticator)? = nil,
        asksForWebAuthn: Bool = false,
        deviceName: String? = nil,
        origin: String? = nil,
        deviceProfile: JSONValue? = nil,
        deviceKeys: (any Credentials.DeviceKeys)? = nil,
        identityProviders: [String: String] = [:],
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        cookieName: String? = nil,
        interceptors: [any ForgeRockInterceptor] = []
    ) {
        self.realm = realm
        self.journey = journey
        self.oauth = oauth
        self.authenticator = authenticator
        self.asksForWebAuthn = asksForWebAuthn
        self.deviceName = deviceName
        self.origin = origin
        self.deviceProfile = deviceProfile
        self.deviceKeys = deviceKeys
        self.identityProviders = identityProviders
        self.callbacks = callbacks
        self.cookieName = cookieName
        self.interceptors = interceptors
    }
}
