public import AuthRecovery
import HTTPRecovery

/// What an app wants of an org beside its address.
public struct OktaConfiguration: Sendable {
    /// How long to wait between two questions whether a push was answered; at least 1 s, default: 4 s.
    public var pollInterval: Duration

    /// Whether the server is to say that a password expires soon; default: no.
    ///
    /// The person may then change it or go on.
    public var warnsOfExpiry: Bool

    /// Whether a sign-in without a password begins with the name alone, for an org that has another factor stand in the
    /// place of the password; default: no, the password is asked for.
    public var beginsWithoutPassword: Bool

    /// Whether the org is to remember the device after a factor was verified, so that it is not asked again there; nil,
    /// the default, leaves it to the org.
    ///
    /// A device is known by ``deviceToken`` or ``contextDeviceToken``.
    public var remembersDevice: Bool?

    /// Which of the org's ways a sign-in takes; default: ``Way/automatic``.
    public var way: Way

    /// Whether what is optional is offered too: factors for enrollment, and the fields of a form about the person, which an
    /// empty answer leaves out; default: no, it is skipped.
    public var enrollsOptionalFactors: Bool

    /// What signs WebAuthn challenges; nil asks the responder.
    public var authenticator: (any WebAuthn.Authenticator)?

    /// What tells the device apart, sent as `X-Device-Fingerprint`; nil sends none.
    public var deviceFingerprint: String?

    /// The device token, sent as the cookie `DT`; nil sends none.
    public var deviceToken: Secret?

    /// The app that sign-ins are for, whose policy decides, as `audience`; nil leaves it to the org.
    public var audience: String?

    /// What the app wants to get back with a transaction, as `relayState`; nil sends none.
    public var relayState: String?

    /// The id of the device, of at most 32 characters, by which the org remembers it, as `context.deviceToken`; nil sends
    /// none.
    ///
    /// An org takes it only from a trusted app, whose requests carry an API token.
    public var contextDeviceToken: Secret?

    /// The app that tokens are obtained for; nil makes a session of the org instead.
    public var app: OktaApp?

    /// Creates a configuration.
    public init(
        pollInterval: Duration = .seconds(4),
        warnsOfExpiry: Bool = false,
        beginsWithoutPassword: Bool = false,
        remembersDevice: Bool? = nil,
        way: Way = .automatic,
        enrollsOptionalFactors: Bool = false,
        authenticator: (any WebAuthn.Authenticator)? = nil,
        deviceFingerprint: String? = nil,
        deviceToken: Secret? = nil,
        audience: String? = nil,
        relayState: String? = nil,
        contextDeviceToken: Secret? = nil,
        app: OktaApp? = nil
    ) {
        self.pollInterval = max(pollInterval, .seconds(1))
        self.warnsOfExpiry = warnsOfExpiry
        self.beginsWithoutPassword = beginsWithoutPassword
        self.remembersDevice = remembersDevice
        self.way = way
        self.enrollsOptionalFactors = enrollsOptionalFactors
        self.authenticator = authenticator
        self.deviceFingerprint = deviceFingerprint
        self.deviceToken = deviceToken
        self.audience = audience
        self.relayState = relayState
        self.contextDeviceToken = contextDeviceToken
        self.app = app
    }
}

extension OktaConfiguration {
    /// How a sign-in goes about it.
    @nonexhaustive public enum Way: String, Sendable, Hashable {
        /// The org decides: with an app, an org on the identity engine is signed in to by its interaction code flow, as
        /// far as the app may use it, or by Direct Authentication if it lists those grants as the app's; all others by the
        /// Authentication API.
        case automatic
        /// By the Authentication API, which ends in a session of the org or in an app's tokens.
        case authentication
        /// By the identity engine's forms, whatever the policy wants; it needs an app with the interaction code grant.
        case identityEngine
        /// By Direct Authentication: the person chooses among password, code, push, text message, call and key, and the
        /// token endpoint is asked with each; it needs an app with its grants. A password is recovered by another factor
        /// and the MyAccount API, for which the app needs the scope `okta.myAccount.password.manage`.
        ///
        /// A factor is named by its sort alone, in what is asked as in what is answered: which of two phones a code or a push goes
        /// to, the org decides. Only the keys of a person all stand in one challenge, and whichever is at hand signs it. Where the
        /// person is to choose among several of one sort, ``identityEngine`` offers each by its name.
        case directAuthentication
    }
}
