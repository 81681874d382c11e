public import HTTPRecovery

/// The codes of the vendor's login domain (`com.facebook.sdk.login`) and what stands for them here.
public enum FacebookLoginError: Int, Sendable, Hashable, CaseIterable, FacebookVendorError {
    /// Not used.
    case reserved = 300
    /// Something else.
    case unknown = 301
    /// The password was changed, so the person signs in again.
    case passwordChanged = 302
    /// The person has to settle something at Facebook.
    case userCheckpointed = 303
    /// Another person has signed in than before.
    case userMismatch = 304
    /// The person has not confirmed the account.
    case unconfirmedUser = 305
    /// The app is disabled in the settings of the system.
    case systemAccountAppDisabled = 306
    /// There is no account in the settings of the system.
    case systemAccountUnavailable = 307
    /// The answer does not belong to the question.
    case badChallengeString = 308
    /// The ID token is not valid.
    case invalidIDToken = 309
    /// There is no access token.
    case missingAccessToken = 310

    /// The vendor's domain.
    public static var domain: String { "com.facebook.sdk.login" }

    /// The kind that stands for the code here.
    public var kind: Outcome.Kind {
        switch self {
        case .reserved, .unknown: .unknown
        case .passwordChanged: .credentialRejected
        case .userCheckpointed, .unconfirmedUser: .userActionRequired
        case .userMismatch: .stateConflict
        case .systemAccountAppDisabled, .systemAccountUnavailable: .factorUnavailable
        case .badChallengeString, .invalidIDToken: .invalidRequest
        case .missingAccessToken: .reauthenticationRequired
        }
    }

    /// A sentence that can be shown to a person.
    public var userMessage: String {
        switch self {
        case .reserved, .unknown: "The sign-in to Facebook did not succeed. Please try again."
        case .passwordChanged: "The password at Facebook was changed. Please sign in again."
        case .userCheckpointed:
            "Facebook wants something to be confirmed. Please log in at www.facebook.com, and then try again."
        case .userMismatch: "Somebody else has signed in than before. Please sign in as the same person."
        case .unconfirmedUser: "The account at Facebook is not confirmed. Please confirm it at www.facebook.com."
        case .systemAccountAppDisabled: "The app may not use the Facebook account of this device."
        case .systemAccountUnavailable: "There is no Facebook account on this device."
        case .badChallengeString: "The answer of Facebook does not belong to this sign-in. Please start again."
        case .invalidIDToken: "Facebook's word about who has signed in cannot be trusted. Please sign in again."
        case .missingAccessToken: "Please sign in to Facebook to go on."
        }
    }

    /// What helps, best first.
    public var remedies: [Outcome.Remedy] {
        switch self {
        case .reserved, .unknown: []
        case .passwordChanged, .missingAccessToken: [.reauthenticate]
        case .userCheckpointed, .unconfirmedUser: [.visitProvider]
        case .userMismatch, .badChallengeString, .invalidIDToken: [.restartFlow]
        case .systemAccountAppDisabled, .systemAccountUnavailable: [.switchFactor]
        }
    }

    /// The code that the vendor's SDK would report for an error of this library; nil for one that is none of the login.
    public init?(_ error: RecoveryError) {
        if error.reason == .identityChanged {
            self = .userMismatch
            return
        }
        let outcome = error.outcome
        if let code = outcome.code, let ofSignIn = Self.codesOfSignIn[code] {
            self = ofSignIn
            return
        }
        switch (outcome.code.flatMap { Int($0) }, outcome.subcode.flatMap { Int($0) }) {
        case (_, 459), (_, 490): self = .userCheckpointed
        case (_, 464): self = .unconfirmedUser
        case (190, 460), (102, 460): self = .passwordChanged
        default:
            switch outcome.kind {
            case .reauthenticationRequired where outcome.code == nil: self = .missingAccessToken
            case .credentialRejected where outcome.credential == .id: self = .invalidIDToken
            case .unknown where outcome.statusType == FacebookLoginDialog.name: self = .unknown
            default: return nil
            }
        }
    }

    /// What this library says of a redirect or an ID token that belongs to another sign-in.
    private static let codesOfSignIn: [String: FacebookLoginError] = [
        "state_mismatch": .badChallengeString, "id_token_missing": .invalidIDToken, "nonce_mismatch": .invalidIDToken,
        "issuer_mismatch": .invalidIDToken, "audience_mismatch": .invalidIDToken, "expiry_mismatch": .invalidIDToken,
        "signature_mismatch": .invalidIDToken,
    ]
}
