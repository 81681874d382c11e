/// The status of a transaction; one that this version does not know is kept as it is.
public struct OktaStatus: Sendable, Hashable, RawRepresentable {
    /// Okta's word.
    public let rawValue: String

    /// Creates a status from Okta's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Name and password are wanted.
    public static let unauthenticated = OktaStatus(rawValue: "UNAUTHENTICATED")
    /// The password expires soon.
    public static let passwordWarning = OktaStatus(rawValue: "PASSWORD_WARN")
    /// The password has expired and has to be changed.
    public static let passwordExpired = OktaStatus(rawValue: "PASSWORD_EXPIRED")
    /// A new password is wanted, without the old one.
    public static let passwordReset = OktaStatus(rawValue: "PASSWORD_RESET")
    /// The answer to the recovery question is wanted.
    public static let recovery = OktaStatus(rawValue: "RECOVERY")
    /// A recovery code, or a mail to follow, is under way.
    public static let recoveryChallenge = OktaStatus(rawValue: "RECOVERY_CHALLENGE")
    /// The account is locked.
    public static let lockedOut = OktaStatus(rawValue: "LOCKED_OUT")
    /// A factor has to be enrolled.
    public static let mfaEnroll = OktaStatus(rawValue: "MFA_ENROLL")
    /// The factor that was enrolled has to be activated.
    public static let mfaEnrollActivate = OktaStatus(rawValue: "MFA_ENROLL_ACTIVATE")
    /// One of the person's factors is wanted.
    public static let mfaRequired = OktaStatus(rawValue: "MFA_REQUIRED")
    /// A factor is being verified.
    public static let mfaChallenge = OktaStatus(rawValue: "MFA_CHALLENGE")
    /// Done.
    public static let success = OktaStatus(rawValue: "SUCCESS")
}
