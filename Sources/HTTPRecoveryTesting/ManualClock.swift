public import HTTPRecovery

/// A clock that stands still until a test moves it.
///
/// A test awaits the fact that somebody sleeps, then advances:
///
/// ```swift
/// let clock = ManualClock()
/// async let response = client.send(request)
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(2))
/// ```
public final class ManualClock: Clock, Sendable {
    /// A point on the clock, measured from its start.
    public struct Instant: InstantProtocol {
        /// The time since the clock's start.
        public var offset: Duration

        /// Creates an instant.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// The instant `duration` later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// The time to another instant.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether the first instant is earlier.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    private struct Sleeper {
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
        var watchers: [UInt64: Watcher] = [:]
        var cancelled: Set<UInt64> = []
        var delays: [Duration] = []

        /// Takes out the watchers whose fact has become true.
        mutating func takeSatisfiedWatchers() -> [Watcher] {
            let count = sleepers.count
            let satisfied = watchers.filter { $0.value.count <= count }
            for id in satisfied.keys { watchers[id] = nil }
            return Array(satisfied.values)
        }
    }

    private let state = Locked(State())

    /// Creates a clock that shows zero.
    public init() {}

    /// The present instant.
    public var now: Instant {
        state.withLock { $0.now }
    }

    /// The smallest step; the clock knows no other than the test's.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep.
    public var sleepers: Int {
        state.withLock { $0.sleepers.count }
    }

    /// The delays that were asked for, in order: a recorder for exact schedules.
    public var requestedDelays: [Duration] {
        state.withLock { $0.delays }
    }

    /// When the next sleeper wakes; nil when nobody sleeps.
    public var nextDeadline: Instant? {
        state.withLock { $0.sleepers.values.map(\.deadline).min() }
    }

    /// Sleeps until a test has moved the clock to the deadline.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(Sleeper(deadline: deadline, continuation: continuation), id: id)
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Waits until at least `count` tasks sleep on the clock; no longer once its own task is cancelled.
    public func waitForSleepers(_ count: Int) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    // Whoever cancels comes to the lock before this, and is seen here, or after it.
                    if state.sleepers.count >= count || Task.isCancelled { return false }
                    state.watchers[id] = Watcher(count: count, continuation: continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Moves the clock and wakes whoever has slept long enough, the earliest first.
    public func advance(by duration: Duration) {
        advance(to: now.advanced(by: max(duration, .zero)))
    }

    /// Moves the clock to an instant; it never goes back.
    public func advance(to instant: Instant) {
        wake { _ in instant }
    }

    /// Moves the clock to the next sleeper's deadline, once at least `count` tasks sleep; not any more once its own task
    /// is cancelled.
    public func advanceToNextDeadline(afterSleepers count: Int = 1) async {
        repeat {
            await waitForSleepers(count)
            if Task.isCancelled { return }
            // Whoever slept may have been cancelled since: then it waits for the next.
        } while !wake { $0.sleepers.count >= count ? $0.sleepers.values.map(\.deadline).min() : nil }
    }

    /// Moves the clock to the instant that the state leads to, and wakes whoever has slept long enough.
    @discardableResult
    private func wake(at instant: (State) -> Instant?) -> Bool {
        let due: [Sleeper]? = state.withLock { state in
            guard let instant = instant(state) else { return nil }
            state.now = max(state.now, instant)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due ?? [] { sleeper.continuation.resume() }
        return due != nil
    }

    /// A time source on this clock.
    ///
    /// - Parameter wallTime: The wall time at the clock's present instant. Default: 2030-01-01T00:00:00Z.
    public func timeSource(wallTime: Timestamp = Timestamp(secondsSinceEpoch: 1_893_456_000)) -> TimeSource {
        TimeSource(clock: self, wallTime: wallTime)
    }

    private func register(_ sleeper: Sleeper, id: UInt64) {
        enum Action {
            case wake, fail
            case sleep([Watcher])
        }
        let action: Action = state.withLock { state in
            if state.cancelled.remove(id) != nil { return .fail }
            state.delays.append(state.now.duration(to: sleeper.deadline))
            if sleeper.deadline <= state.now { return .wake }
            state.sleepers[id] = sleeper
            return .sleep(state.takeSatisfiedWatchers())
        }
        switch action {
        case .wake: sleeper.continuation.resume()
        case .fail: sleeper.continuation.resume(throwing: CancellationError())
        case .sleep(let watchers): for watcher in watchers { watcher.continuation.resume() }
        }
    }

    private func cancel(_ id: UInt64) {
        let sleeper = state.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: id)
            // Cancelled before it was registered: remembered until it is.
            if sleeper == nil { state.cancelled.insert(id) }
            return sleeper
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
