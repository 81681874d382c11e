package import HTTPRecovery

extension WebAuthn {
    /// Why a WebAuthn ceremony came to nothing on this side.
    ///
    /// The nine cases are those that relying parties' servers are told of; each may carry the platform's own error and a
    /// message.
    @nonexhaustive public enum Failure: Error, Sendable {
        /// What the server sent cannot be used, or the platform answered with something else than a credential.
        case badData(platformError: (any Error)? = nil, message: String? = nil)
        /// An operation was begun while another one runs.
        case badOperation(platformError: (any Error)? = nil, message: String? = nil)
        /// The authenticator is in a state that does not allow it, such as holding an excluded credential already.
        case invalidState(platformError: (any Error)? = nil, message: String? = nil)
        /// A wanted property, such as a resident key, cannot be had.
        case constraint(platformError: (any Error)? = nil, message: String? = nil)
        /// The person refused to have a key made.
        case cancelled(platformError: (any Error)? = nil, message: String? = nil)
        /// The person took too long.
        case timeout(platformError: (any Error)? = nil, message: String? = nil)
        /// The person, or the rules of the relying party's domain, did not allow it, or no credential fits.
        case notAllowed(platformError: (any Error)? = nil, message: String? = nil)
        /// This machine has no authenticator, or none that can do what is wanted.
        case unsupported(platformError: (any Error)? = nil, message: String? = nil)
        /// Anything else.
        case unknown(platformError: (any Error)? = nil, message: String? = nil)
    }
}

extension WebAuthn.Failure {
    /// The platform's own error, if there is one.
    public var platformError: (any Error)? { details.platformError }

    /// The message, if there is one.
    public var message: String? { details.message }

    private var details: (platformError: (any Error)?, message: String?) {
        switch self {
        case .badData(let error, let message), .badOperation(let error, let message),
            .invalidState(let error, let message), .constraint(let error, let message),
            .cancelled(let error, let message), .timeout(let error, let message),
            .notAllowed(let error, let message), .unsupported(let error, let message),
            .unknown(let error, let message):
            (error, message)
        }
    }

    /// The name of the case in snake case, for logs and events; neither message nor platform error stands in it.
    public var name: String {
        switch self {
        case .badData: "bad_data"
        case .badOperation: "bad_operation"
        case .invalidState: "invalid_state"
        case .constraint: "constraint"
        case .cancelled: "cancelled"
        case .timeout: "timeout"
        case .notAllowed: "not_allowed"
        case .unsupported: "unsupported"
        case .unknown: "unknown"
        }
    }
}

extension WebAuthn.Failure {
    /// What a ceremony's failure means for a sign-in: who has cancelled does not want to go on; any other failure makes the
    /// passkey one that cannot be used now.
    package var refusal: RecoveryError {
        var outcome = Outcome(.factorUnavailable, processed: .no, remedies: [.switchFactor])
        if case .cancelled = self { outcome = Outcome(.declined, processed: .no, remedies: [.switchFactor]) }
        outcome.code = "webauthn_\(name)"
        return RecoveryError(outcome: outcome, reason: .notRecoverable, cause: self)
    }
}

extension WebAuthn.Failure: CustomStringConvertible {
    /// The name of the case, safe to log.
    public var description: String { "WebAuthn.Failure(\(name))" }
}
