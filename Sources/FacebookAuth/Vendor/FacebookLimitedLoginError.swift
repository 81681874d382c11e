public import HTTPRecovery

/// The codes of the vendor's renewal of Limited Logins (`com.facebook.sdk.login.refresh`) and what stands for them here.
public enum FacebookLimitedLoginError: Int, Sendable, Hashable, CaseIterable, FacebookVendorError {
    /// There is no token to renew.
    case noCurrentToken = 0
    /// The token is not one of a Limited Login.
    case notLimitedLogin = 1
    /// The person has to sign in.
    case loginRequired = 2
    /// The person has to consent.
    case consentRequired = 3
    /// Another person is signed in at Facebook.
    case userMismatch = 4
    /// No answer came.
    case networkError = 5
    /// No answer came in time; the SDK waits 30 s.
    case timeout = 6
    /// Too many renewals were asked for.
    case rateLimited = 7
    /// The answer cannot be read.
    case invalidResponse = 8
    /// The renewal was cancelled.
    case cancelled = 9
    /// The app has no such renewal.
    case featureDisabled = 10
    /// The platform has no such renewal.
    case unsupportedPlatform = 11
    /// The token is not bound to a key.
    case notDPoPBound = 12
    /// No key could be made.
    case dpopKeyGenerationFailed = 13
    /// Something else.
    case unknown = 14

    /// The vendor's domain.
    public static var domain: String { "com.facebook.sdk.login.refresh" }

    /// The kind that stands for the code here; a cancellation is no failure and is thrown as `CancellationError`.
    public var kind: Outcome.Kind {
        switch self {
        case .noCurrentToken: .reauthenticationRequired
        case .loginRequired: .credentialRejected
        case .consentRequired: .userActionRequired
        case .userMismatch: .stateConflict
        case .networkError: .transport
        case .timeout: .timedOut
        case .rateLimited: .rateLimited
        case .invalidResponse: .unreadable
        case .cancelled: .declined
        case .notLimitedLogin, .featureDisabled, .unsupportedPlatform, .notDPoPBound, .dpopKeyGenerationFailed:
            .misconfigured
        case .unknown: .unknown
        }
    }

    /// What helps, best first.
    public var remedies: [Outcome.Remedy] {
        switch kind {
        case .reauthenticationRequired, .credentialRejected: [.reauthenticate]
        case .userActionRequired: [.visitProvider]
        case .stateConflict: [.restartFlow]
        case .transport, .timedOut: [.retry]
        case .rateLimited: [.wait]
        case .misconfigured: [.fixRequest]
        default: []
        }
    }
}
