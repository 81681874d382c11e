/// What became of a factor; a result that this version does not know is kept as it is.
public struct OktaFactorResult: Sendable, Hashable, RawRepresentable {
    /// Okta's word.
    public let rawValue: String

    /// Creates a result from Okta's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The person has not answered yet: the one result of a verification on which polling goes on.
    public static let waiting = OktaFactorResult(rawValue: "WAITING")
    /// An answer is wanted, such as a WebAuthn assertion.
    public static let challenge = OktaFactorResult(rawValue: "CHALLENGE")
    /// The person said no.
    public static let rejected = OktaFactorResult(rawValue: "REJECTED")
    /// The person took too long.
    public static let timeout = OktaFactorResult(rawValue: "TIMEOUT")
    /// The person cancelled it.
    public static let cancelled = OktaFactorResult(rawValue: "CANCELLED")
    /// The server failed.
    public static let error = OktaFactorResult(rawValue: "ERROR")
    /// The verification failed.
    public static let failed = OktaFactorResult(rawValue: "FAILED")
    /// The code was used before.
    public static let passcodeReplayed = OktaFactorResult(rawValue: "PASSCODE_REPLAYED")
    /// The code belongs to another time.
    public static let timeWindowExceeded = OktaFactorResult(rawValue: "TIME_WINDOW_EXCEEDED")
    /// Enrolled, and not active yet.
    public static let pendingActivation = OktaFactorResult(rawValue: "PENDING_ACTIVATION")
    /// Verified.
    public static let success = OktaFactorResult(rawValue: "SUCCESS")
}
