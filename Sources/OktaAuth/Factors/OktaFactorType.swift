public import AuthRecovery

/// A sort of factor; one that this version does not know is kept as it is.
public struct OktaFactorType: Sendable, Hashable, RawRepresentable {
    /// Okta's word.
    public let rawValue: String

    /// Creates a sort from Okta's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Reads a word; recovery answers write them in upper case.
    init(reading text: String) {
        rawValue = String(text.prefix(256)).lowercased()
    }

    /// A code by text message.
    public static let sms = OktaFactorType(rawValue: "sms")
    /// A code by phone call.
    public static let call = OktaFactorType(rawValue: "call")
    /// A code by e-mail.
    public static let email = OktaFactorType(rawValue: "email")
    /// A confirmation on the person's phone.
    public static let push = OktaFactorType(rawValue: "push")
    /// A security question.
    public static let question = OktaFactorType(rawValue: "question")
    /// A code from an authenticator app (RFC 6238).
    public static let totp = OktaFactorType(rawValue: "token:software:totp")
    /// A code from a counter (RFC 4226).
    public static let hotp = OktaFactorType(rawValue: "token:hotp")
    /// A code from a device, such as one of RSA's or Symantec's.
    public static let token = OktaFactorType(rawValue: "token")
    /// A code from a device that a key press types.
    public static let hardware = OktaFactorType(rawValue: "token:hardware")
    /// Duo's page: the steps carry what its script needs and answers.
    public static let web = OktaFactorType(rawValue: "web")
    /// A security key of the kind before WebAuthn.
    public static let u2f = OktaFactorType(rawValue: "u2f")
    /// A WebAuthn credential.
    public static let webAuthn = OktaFactorType(rawValue: "webauthn")

    /// Whether a code has to be sent before it can be asked for.
    public var isSent: Bool { self == .sms || self == .call || self == .email }

    /// What it asks a person for, by the words that all providers share; nil if this version cannot carry it out.
    public var key: Factor.Key? {
        switch self {
        case .sms, .call: .phoneCode
        case .email: .emailCode
        case .push: .push
        case .question: .securityAnswer
        case .webAuthn: .webauthn
        default: rawValue == "token" || rawValue.hasPrefix("token:") ? .totp : nil
        }
    }
}
