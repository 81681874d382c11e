extension History {
    /// Why a call was not tried (again): the same word in errors, events, metrics and the history.
    public struct StopReason: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The word.
        public let rawValue: String

        /// Creates a reason from its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The word.
        public var description: String { rawValue }

        /// A part of the response's body has gone out and cannot be taken back.
        public static let responseDelivered = StopReason(rawValue: "response_delivered")
        /// The method is not idempotent and nothing else makes resending safe.
        public static let methodNotIdempotent = History.StopReason(rawValue: "method_not_idempotent")
        /// The request spends something, and the server may have processed it.
        public static let processedUnknown = History.StopReason(rawValue: "processed_unknown")
        /// The body is a stream that has been read.
        public static let bodyNotReplayable = History.StopReason(rawValue: "body_not_replayable")
        /// The retry budget of the origin is used up.
        public static let budgetExhausted = History.StopReason(rawValue: "budget_exhausted")
        /// The wait, or the next attempt, would end past the deadline.
        public static let deadlineWouldPass = History.StopReason(rawValue: "deadline_would_pass")
        /// The deadline has passed.
        public static let deadlinePassed = History.StopReason(rawValue: "deadline_passed")
        /// The wait is longer than the caller allows.
        public static let waitExceedsLimit = History.StopReason(rawValue: "wait_exceeds_limit")
        /// All attempts are used up.
        public static let attemptsExhausted = History.StopReason(rawValue: "attempts_exhausted")
        /// The circuit breaker is open.
        public static let breakerOpen = History.StopReason(rawValue: "breaker_open")
        /// As many attempts are under way, and as many wait, as are allowed.
        public static let limitReached = History.StopReason(rawValue: "limit_reached")
        /// The account is locked, and nothing is set up to wait for it or its end is unknown.
        public static let accountLocked = History.StopReason(rawValue: "account_locked")
        /// A lockout was waited out, and what the request carries may have tripped it, or is too old by now.
        public static let lockoutOver = History.StopReason(rawValue: "lockout_over")
        /// The identity changed between two attempts.
        public static let identityChanged = History.StopReason(rawValue: "identity_changed")
        /// Recovery from errors is switched off.
        public static let recoveryOff = History.StopReason(rawValue: "recovery_off")
        /// The repair (a renewal, a sign-in) failed.
        public static let repairFailed = History.StopReason(rawValue: "repair_failed")
        /// Fresh credentials were refused again and again, so no more are asked for at present.
        public static let renewalLimit = History.StopReason(rawValue: "renewal_limit")
        /// The answer to a renewal was lost, and the server states no grace in which the refresh token could be presented
        /// again.
        public static let renewalInDoubt = History.StopReason(rawValue: "renewal_in_doubt")
        /// The call was redirected more often than it follows.
        public static let tooManyRedirects = History.StopReason(rawValue: "too_many_redirects")
        /// Following the redirect would give up TLS or send the body to another origin.
        public static let redirectRefused = History.StopReason(rawValue: "redirect_refused")
        /// The redirect's target is no HTTP URL.
        public static let redirectInvalid = History.StopReason(rawValue: "redirect_invalid")
        /// The call was repaired and replayed once already.
        public static let alreadyRepaired = History.StopReason(rawValue: "already_repaired")
        /// The client was shut down while the call waited.
        public static let clientShutDown = History.StopReason(rawValue: "client_shut_down")
        /// The failure is one that repeating cannot help, or no policy is set up for it.
        public static let notRecoverable = History.StopReason(rawValue: "not_recoverable")
    }
}

extension History.StopReason {
    /// What a person is told if this reason, which is about this client and not about the server, has kept a refused
    /// credential from being renewed; nil for any other reason.
    var repairMessage: String? {
        switch self {
        case .deadlinePassed, .deadlineWouldPass: "The time ran out before the session was renewed. Please try again."
        default: nil
        }
    }
}
