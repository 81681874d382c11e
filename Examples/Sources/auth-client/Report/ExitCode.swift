import AuthRecovery
import HTTPRecovery

/// How the program ends, as shells see it.
enum ExitStatus: Int32 {
    case done = 0
    case usage = 64
    case invalidInput = 65
    case unavailable = 69
    case notWaitedOut = 75
    case refused = 77
    case interrupted = 130

    /// The status of a failure.
    init(_ kind: Outcome.Kind) {
        switch kind {
        case .ok, .continue: self = .done
        case .rateLimited, .quotaExhausted, .accountLocked: self = .notWaitedOut
        case .unavailable, .transport, .timedOut, .flowExpired, .unreadable: self = .unavailable
        case .invalidRequest: self = .invalidInput
        default: self = .refused
        }
    }
}
