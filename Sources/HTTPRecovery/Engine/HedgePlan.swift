/// When a request is sent again whose answer has not come, and which answer counts: a value that waits for nothing.
struct HedgePlan: Sendable {
    /// What has happened.
    enum Event {
        /// The time for the next hedge has come.
        case due
        /// The admissions let a hedge go, or do not.
        case admitted(Bool)
        /// An attempt has come to something.
        case ended(Outcome)
    }

    /// What is to be done.
    enum Action: Equatable {
        /// Ask the admissions about a hedge.
        case ask
        /// Send a hedge.
        case send
        /// Wait for what happens next.
        case wait
        /// Take what has just ended, or with it the one before that says more, and cancel all others.
        case finish
    }

    private var left: Int
    private var running = 1

    /// - Parameter maxAttempts: The most attempts in all, the first, which is under way, among them.
    init(maxAttempts: Int) {
        left = max(0, maxAttempts - 1)
    }

    /// Whether nothing better can come: it is a success, or a failure that repeating does not help.
    static func isDecisive(_ outcome: Outcome) -> Bool {
        !outcome.isFailure || !(outcome.remedies.contains(.retry) || outcome.remedies.contains(.wait))
    }

    /// Whether another hedge may follow.
    var isOpen: Bool { left > 0 }

    mutating func next(after event: Event) -> Action {
        switch event {
        case .due: return left > 0 ? .ask : .wait
        case .admitted(false):
            // Whoever holds back now would hold back the next one too.
            left = 0
            return running > 0 ? .wait : .finish
        case .admitted(true):
            left -= 1
            running += 1
            return .send
        case .ended(let outcome):
            running -= 1
            if Self.isDecisive(outcome) { return .finish }
            // What asks to wait is no reason to give up on those that are under way.
            if outcome.retryAfter != nil || !outcome.remedies.contains(.retry) { left = 0 }
            if left > 0 { return .ask }
            return running > 0 ? .wait : .finish
        }
    }
}

/// How long the latest successful answers have taken, for the delay before a hedge.
final class HedgeLatencies: Sendable {
    private struct State {
        var latest: [Duration] = []
        var next = 0
    }

    private let state = Locked(State())
    private static let size = 100
    private static let least = 20

    func note(_ elapsed: Duration) {
        state.withLock { state in
            if state.latest.count < Self.size {
                state.latest.append(elapsed)
            } else {
                state.latest[state.next] = elapsed
                state.next = (state.next + 1) % Self.size
            }
        }
    }

    /// The quantile; nil before enough answers are known.
    func quantile(_ quantile: Double) -> Duration? {
        let latest = state.withLock { $0.latest }
        guard latest.count >= Self.least, quantile > 0, quantile < 1 else { return nil }
        let index = Int((Double(latest.count) * quantile).rounded(.up)) - 1
        return latest.sorted()[min(max(index, 0), latest.count - 1)]
    }
}
