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
        /// A hedge has come to nothing that says anything about the server: one of its layers has failed.
        case lost
    }

    /// What is to be done.
    enum Action: Equatable {
        /// Ask the admissions about a hedge.
        case ask
        /// Send a hedge.
        case send
        /// Wait for what happens next.
        case wait
        /// Wait for what happens next; the time for the next hedge comes then, whatever it was before.
        case postpone(Duration)
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
    ///
    /// A passing failure is none, even if the server forbids to repeat it: what is under way may still be good.
    static func isDecisive(_ outcome: Outcome) -> Bool {
        if !outcome.isFailure { return true }
        if outcome.delayForm == .never, outcome.isLoadFailure { return false }
        return !(outcome.remedies.contains(.retry) || outcome.remedies.contains(.wait))
    }

    /// Whether a failure says more about what to do next than one before it: that nothing is to be repeated, or when.
    static func isTold(_ outcome: Outcome, insteadOf best: Outcome?) -> Bool {
        func weight(_ outcome: Outcome) -> Int {
            isDecisive(outcome) ? 3 : outcome.delayForm == .never ? 2 : outcome.retryAfter != nil ? 1 : 0
        }
        guard let best else { return true }
        return weight(outcome) > weight(best) || weight(best) == 0
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
        case .lost:
            running -= 1
            left = 0
            return running > 0 ? .wait : .finish
        case .ended(let outcome):
            running -= 1
            if Self.isDecisive(outcome) { return .finish }
            // A time that is meant exactly is that of the next hedge (gRPC proposal A6).
            if outcome.delayForm == .exactly, let time = outcome.retryAfter, left > 0 {
                return running > 0 ? .postpone(time) : .finish
            }
            // What asks to wait is no reason to give up on those that are under way.
            let isWait = outcome.retryAfter != nil || !outcome.remedies.contains(.retry)
            if isWait, !outcome.waitsForNothing { left = 0 }
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
