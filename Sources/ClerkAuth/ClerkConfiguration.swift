public import AuthRecovery
public import HTTPRecovery

/// What an app wants of Clerk beside its address.
public struct ClerkConfiguration: Sendable {
    /// How much life a cached session token must have left to be handed out; 0 to 60 s, default: 10 s.
    ///
    /// Of a token with a short life, half the life counts if that is less.
    public var tokenLeeway: Duration {
        didSet { tokenLeeway = Self.bounded(tokenLeeway) }
    }

    /// Whether the previous session token is sent along when a new one is asked for; default: no.
    ///
    /// Instances that mint session tokens from the previous one want it. If an instance only says so when it refuses
    /// (`missing_expired_token`), the token is sent then, whatever stands here.
    public var sendsPreviousToken: Bool

    /// What signs passkey challenges; nil asks the responder.
    public var authenticator: (any WebAuthn.Authenticator)?

    /// The origin that passkey challenges are signed for; nil is `https://` and the relying party's id.
    public var origin: String?

    /// Where the link of an e-mail, and a visit to another identity provider, lead in the end, such as `myapp://callback` or the
    /// address of a listener on this machine; nil offers neither.
    ///
    /// It has to be among the redirect URLs that the instance allows.
    public var redirectURL: String?

    /// Whether the link of an e-mail may be opened on any device: the server is asked then until it was, every 3 s, and nothing
    /// comes back here.
    ///
    /// Default: no. The link is bound to this process (PKCE), and the address that it has led to is asked for. A link that is a
    /// second factor is never bound, and is waited for in any case.
    public var waitsForLinks: Bool

    /// The key of this device that people may enroll to sign in with; nil, the default, enrolls none.
    public var trustedDevice: ClerkConfiguration.TrustedDeviceKey?

    /// Keeps the client within the rates that Clerk publishes; nil, the default, sends as fast as it is asked to and
    /// waits when the server says so.
    ///
    /// A single person never comes near these rates. A service that signs in many people from one address does: give all
    /// its `Clerk` values the same pacing.
    public var pacing: Recovery.PublishedLimits?

    /// The language of the messages that Clerk sends, such as `de-DE`; nil leaves it to Clerk.
    public var locale: String?

    /// Proves that somebody is no robot where Clerk wants that; nil, the default, leaves that to the responder.
    ///
    /// Whoever answers is asked by the key `captcha` for what this does not prove: in a sign-in or a sign-up, a session's tasks,
    /// a reverification, and behind a request. Where nobody does, the refusal stands.
    public var proofs: (any ClerkConfiguration.Proving)?

    /// Creates a configuration.
    public init(
        tokenLeeway: Duration = .seconds(10),
        sendsPreviousToken: Bool = false,
        authenticator: (any WebAuthn.Authenticator)? = nil,
        origin: String? = nil,
        redirectURL: String? = nil,
        waitsForLinks: Bool = false,
        trustedDevice: ClerkConfiguration.TrustedDeviceKey? = nil,
        pacing: Recovery.PublishedLimits? = nil,
        locale: String? = nil,
        proofs: (any ClerkConfiguration.Proving)? = nil
    ) {
        self.tokenLeeway = Self.bounded(tokenLeeway)
        self.sendsPreviousToken = sendsPreviousToken
        self.authenticator = authenticator
        self.origin = origin
        self.redirectURL = redirectURL
        self.waitsForLinks = waitsForLinks
        self.trustedDevice = trustedDevice
        self.pacing = pacing
        self.locale = locale
        self.proofs = proofs
    }

    static func bounded(_ leeway: Duration) -> Duration {
        min(max(leeway, .zero), .seconds(60))
    }
}
