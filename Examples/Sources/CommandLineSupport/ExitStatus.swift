public import HTTPRecovery

/// The exit status of a command-line program.
public struct ExitStatus: Sendable, Hashable, RawRepresentable {
    /// The number.
    public let rawValue: Int32

    /// Creates a status from its number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// 0: everything went well.
    public static let success = ExitStatus(rawValue: 0)
    /// 1: a recorded call is decided otherwise.
    public static let differs = ExitStatus(rawValue: 1)
    /// 7: no connection could be made.
    public static let cannotConnect = ExitStatus(rawValue: 7)
    /// 22: an HTTP error is left, or the wait is longer than allowed.
    public static let httpError = ExitStatus(rawValue: 22)
    /// 28: a deadline or timeout has passed, or would.
    public static let timedOut = ExitStatus(rawValue: 28)
    /// 56: the transfer failed.
    public static let transferFailed = ExitStatus(rawValue: 56)
    /// 64: the program was called wrongly.
    public static let usage = ExitStatus(rawValue: 64)
    /// 65: the input is not what was asked for.
    public static let badInput = ExitStatus(rawValue: 65)
    /// 130: interrupted.
    public static let interrupted = ExitStatus(rawValue: 130)
}

extension ExitStatus {
    /// The status of a request that was sent by itself.
    public static func ofRequest(_ error: RecoveryError) -> ExitStatus {
        switch error.reason {
        case .waitExceedsLimit: .httpError
        case .deadlineWouldPass, .deadlinePassed: .timedOut
        // Everything else, an empty budget or an open breaker too, has the status of the failure behind it.
        default: ofRequest(error.outcome)
        }
    }

    /// The status of what a request came to.
    public static func ofRequest(_ outcome: Outcome) -> ExitStatus {
        switch outcome.kind {
        case .ok, .continue: (outcome.status ?? 200) < 400 ? .success : .httpError
        case .timedOut: .timedOut
        case .transport: outcome.transportError.map(ofTransport) ?? .transferFailed
        default: .httpError
        }
    }

    private static func ofTransport(_ error: TransportError) -> ExitStatus {
        switch error.code {
        case .timedOut: return .timedOut
        case .invalidRequest, .misconfigured: return error.certainty == .neverSent ? .usage : .transferFailed
        case .requestBodyFailed, .outOfResources, .shutDown: return .transferFailed
        // Names, routes, TLS: whatever kept the first byte of the request at home.
        default: return error.certainty == .neverSent ? .cannotConnect : .transferFailed
        }
    }

    /// The status of several requests: the gravest of theirs, by 130 > 28 > 7 > 56 > 22 > 0.
    public static func ofAll(_ statuses: some Sequence<ExitStatus>) -> ExitStatus {
        statuses.max { $0.gravity < $1.gravity } ?? .success
    }

    private var gravity: Int {
        switch self {
        case .success: 0
        case .httpError: 1
        case .transferFailed: 2
        case .cannotConnect: 3
        case .timedOut: 4
        case .interrupted: 6
        default: 5
        }
    }
}
