public import HTTPRecovery

/// The codes of the vendor's core domain (`com.facebook.sdk.core`) and what stands for them here.
public enum FacebookCoreError: Int, Sendable, Hashable, CaseIterable, FacebookVendorError {
    /// Not used.
    case reserved = 0
    /// Something could not be encrypted or decrypted.
    case encryption = 1
    /// An argument is not valid.
    case invalidArgument = 2
    /// Something else.
    case unknown = 3
    /// No answer came.
    case network = 4
    /// Events could not be delivered.
    case appEventsFlush = 5
    /// The answer is no text.
    case graphRequestNonTextMimeTypeReturned = 6
    /// The answer does not have the form that was expected.
    case graphRequestProtocolMismatch = 7
    /// Graph has answered with an error.
    case graphRequestGraphAPI = 8
    /// The dialog cannot be shown.
    case dialogUnavailable = 9
    /// There is no access token.
    case accessTokenRequired = 10
    /// The Facebook app that is installed is too old.
    case appVersionUnsupported = 11
    /// The browser cannot be opened.
    case browserUnavailable = 12
    /// The switch to the Facebook app was interrupted.
    case bridgeAPIInterruption = 13
    /// The answer of the Facebook app cannot be read.
    case bridgeAPIResponse = 14

    /// The vendor's domain.
    public static var domain: String { "com.facebook.sdk.core" }

    /// The kind that stands for the code here; an error of Graph has the kind of its own code.
    public var kind: Outcome.Kind {
        switch self {
        case .reserved, .unknown, .graphRequestGraphAPI: .unknown
        case .encryption, .appVersionUnsupported: .misconfigured
        case .invalidArgument: .invalidRequest
        case .network: .transport
        case .appEventsFlush: .unavailable
        case .graphRequestNonTextMimeTypeReturned, .graphRequestProtocolMismatch, .bridgeAPIResponse: .unreadable
        case .dialogUnavailable, .browserUnavailable: .factorUnavailable
        case .accessTokenRequired: .reauthenticationRequired
        case .bridgeAPIInterruption: .declined
        }
    }

    /// What helps, best first.
    public var remedies: [Outcome.Remedy] {
        switch kind {
        case .misconfigured, .invalidRequest: [.fixRequest]
        case .transport, .unavailable: [.retry]
        case .factorUnavailable: [.switchFactor]
        case .reauthenticationRequired: [.reauthenticate]
        default: []
        }
    }

    /// The code that the vendor's SDK would report for an error of this library.
    public init(_ error: RecoveryError) {
        switch error.kind {
        case .transport, .timedOut: self = .network
        case .unreadable: self = .graphRequestProtocolMismatch
        case .reauthenticationRequired where error.outcome.code == nil: self = .accessTokenRequired
        default: self = .graphRequestGraphAPI
        }
    }
}
