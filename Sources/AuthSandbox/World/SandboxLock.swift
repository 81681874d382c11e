import HTTPRecovery

/// What keeps somebody out of their account.
enum SandboxLock: Sendable, Equatable {
    case open
    case until(Int64)
    case indefinite

    init(_ initial: SandboxUser.InitialLock?, now: Int64) {
        switch initial {
        case .milliseconds(let time): self = .until(now + time)
        case .indefinite: self = .indefinite
        case nil: self = .open
        }
    }

    func isClosed(now: Int64) -> Bool {
        if case .until(let end) = self { end > now } else { self == .indefinite }
    }

    /// The time left in seconds, `indefinite`, or `null`.
    func json(now: Int64) -> JSONValue {
        switch self {
        case .until(let end) where end > now: .seconds(end - now)
        case .indefinite: "indefinite"
        default: .null
        }
    }
}
