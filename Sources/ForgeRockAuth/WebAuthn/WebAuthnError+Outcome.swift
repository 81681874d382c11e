public import AuthRecovery

extension WebAuthn.Failure {
    /// The domain of the error numbers in the vendor's iOS SDK.
    public static let forgeRockDomain = "com.forgerock.ios.frauth.webauthn"

    /// The number of the error in the vendor's iOS SDK.
    public var forgeRockCode: Int {
        switch self {
        case .badData: 1_600_001
        case .badOperation: 1_600_002
        case .invalidState: 1_600_003
        case .constraint: 1_600_004
        case .cancelled: 1_600_005
        case .timeout: 1_600_006
        case .notAllowed: 1_600_007
        case .unsupported: 1_600_008
        case .unknown: 1_600_099
        }
    }

    /// The name of the error as a node of a journey knows it.
    public var forgeRockName: String {
        switch self {
        case .badData: "DataError"
        case .badOperation, .cancelled, .unknown: "UnknownError"
        case .invalidState: "InvalidStateError"
        case .constraint: "ConstraintError"
        case .timeout: "TimeoutError"
        case .notAllowed: "NotAllowedError"
        case .unsupported: "NotSupportedError"
        }
    }

    /// What goes back in the hidden callback `webAuthnOutcome`.
    ///
    /// `unsupported` alone is the word that takes a node to its Unsupported outcome; any other error takes it to Client
    /// Error. Behind the name stands the platform error's text, or the message if there is no platform error; it is
    /// not escaped, and the colon stays if there is nothing to say.
    public var webAuthnOutcome: String {
        if case .unsupported = self { return "unsupported" }
        let text = platformError.map(Self.text) ?? message ?? ""
        return "ERROR::\(forgeRockName):\(text)"
    }

    private static func text(of error: any Error) -> String {
        if let error = error as? any WebAuthnPlatformError {
            return error.debugText ?? error.localizedText
        }
        if let error = error as? any CustomDebugStringConvertible { return error.debugDescription }
        return String(describing: error)
    }
}

/// An error of a platform's authenticator that has texts of its own.
public protocol WebAuthnPlatformError: Error {
    /// The text for developers, if there is one; it counts first.
    var debugText: String? { get }
    /// The text for people.
    var localizedText: String { get }
}
