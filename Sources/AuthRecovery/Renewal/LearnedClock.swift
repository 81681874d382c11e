import HTTPRecovery
import HTTPTypes

/// How far the server's clock is ahead of ours, as its `Date` fields tell.
///
/// Expiry times are the server's. A `Date` has whole seconds and comes a little late, so small differences count as
/// none.
final class LearnedClock: Sendable {
    private struct State {
        var offset = Duration.zero
        var learnedAt: TimeSource.Instant?
    }

    private let state = Locked(State())

    /// The server's time.
    func now(_ time: TimeSource) -> Timestamp {
        time.wallTime.advanced(by: state.withLock { $0.offset })
    }

    /// Learns from the head of an answer, at most once in ten seconds.
    func learn(from head: HTTPResponse?, time: TimeSource) {
        guard let head else { return }
        let now = time.now
        let isDue = state.withLock { state in
            guard let last = state.learnedAt, last.duration(to: now) < .seconds(10) else { return true }
            return false
        }
        guard isDue, let offset = ServerClock(head.headerFields, receivedAt: time.wallTime).offset else { return }
        state.withLock { state in
            state.offset = abs(offset) < .seconds(2) ? .zero : offset
            state.learnedAt = now
        }
    }

    private func abs(_ duration: Duration) -> Duration {
        duration < .zero ? .zero - duration : duration
    }
}
