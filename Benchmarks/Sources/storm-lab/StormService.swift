import HTTPRecovery
import HTTPRecoveryTesting
import Synchronization

/// A service with a capacity and a queue, which stands still for a while.
///
/// It refuses what would wait too long, and works off what it has accepted, also for clients that have given up by then:
/// what makes storms last.
final class StormService: Sendable {
    /// How many attempts a second it can answer.
    static let capacity = 300.0
    /// How long its queue may become before it refuses.
    static let longestQueue = 4.0
    /// How long an answer takes beside the queue.
    static let latency = 0.02
    /// When it is down.
    static let outage = 60.0..<120.0

    /// When it has worked off what it has accepted, in seconds.
    private let isFreeAt = Mutex(0.0)

    /// What it does about an attempt.
    func answer(_ arrival: Simulation.Arrival) -> Simulation.Answer {
        let now = arrival.time.inSeconds
        return isFreeAt.withLock { isFreeAt in
            let isDown = Self.outage.contains(now)
            let start = max(isFreeAt, isDown ? Self.outage.upperBound : now)
            if start - now > Self.longestQueue { return .status(503, after: .saturating(seconds: Self.latency)) }
            isFreeAt = start + 1 / Self.capacity
            return .status(200, after: .saturating(seconds: start - now + Self.latency))
        }
    }
}
