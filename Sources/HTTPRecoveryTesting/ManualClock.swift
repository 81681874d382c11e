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
///
/// Or it states the wait itself (``waitForSleeper(of:purpose:)``), or lets the clock jump over all of them
/// (``skippingWaits(upTo:jumps:_:)``).
public final class ManualClock: TimeSource.PurposefulClock, Sendable {
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

    struct Sleeper: Sendable {
        var deadline: Instant
        /// How long it was going to sleep when it began.
        var delay: Duration
        var purpose: TimeSource.SleepPurpose
        var continuation: CheckedContinuation<Void, any Error>
    }

    fileprivate struct Watcher: Sendable {
        var fact: @Sendable (State) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    struct State: Sendable {
        fileprivate(set) var now = Instant(offset: .zero)
        /// Grows with whatever somebody does with the clock.
        fileprivate(set) var changes: UInt64 = 0
        /// How many sleeps were over when they began.
        fileprivate(set) var emptySleeps = 0
        /// The last delay that was asked for, also one of nothing.
        fileprivate(set) var lastDelay = Duration.zero
        fileprivate(set) var sleepers: [UInt64: Sleeper] = [:]
        fileprivate var nextID: UInt64 = 0
        fileprivate var watchers: [UInt64: Watcher] = [:]
        fileprivate var cancelled: Set<UInt64> = []
        fileprivate var delays: [Duration] = []
        /// Why nobody sleeps on the clock any more.
        fileprivate var end: Endless?

        /// Who wakes next; nil when nobody sleeps.
        var next: Sleeper? { next(of: nil, among: 1) }

        /// Who wakes next of those who sleep for something, nil for whatever; nil while they are fewer.
        fileprivate func next(of purpose: TimeSource.SleepPurpose?, among count: Int) -> Sleeper? {
            let those = sleepers.values.lazy.filter { purpose == nil || $0.purpose == purpose }
            return those.count < count ? nil : those.min { $0.isDue(before: $1) }
        }

        /// Takes note of a change, and takes out the watchers whose fact has become true.
        fileprivate mutating func takeSatisfiedWatchers() -> [Watcher] {
            changes += 1
            let satisfied = watchers.filter { $0.value.fact(self) }
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
        state.withLock { $0.next?.deadline }
    }

    /// Sleeps until a test has moved the clock to the deadline: a wait of the program.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; ``Endless`` if the clock has given up.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, for: .wait)
    }

    /// Sleeps until a test has moved the clock to the deadline.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; ``Endless`` if the clock has given up.
    public func sleep(until deadline: Instant, for purpose: TimeSource.SleepPurpose) async throws {
        let id: UInt64? = try state.withLock { state in
            if let end = state.end { throw end }
            guard deadline > state.now else {
                state.emptySleeps += 1
                state.lastDelay = .zero
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else {
            notify()
            // Whoever sleeps for nothing again and again leaves others their turn.
            await Task.yield()
            return try Task.checkCancellation()
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(deadline, purpose, continuation, id: id)
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Waits until at least `count` tasks sleep on the clock, whatever for; no longer once its own task is cancelled.
    public func waitForSleepers(_ count: Int) async {
        await wait { $0.sleepers.count >= count }
    }

    /// Waits until somebody sleeps on the clock for so long; no longer once its own task is cancelled.
    ///
    /// A test that states the wait does not break when something else begins to sleep beside it.
    ///
    /// - Parameters:
    ///   - delay: The time that was asked for, to within the clock's ``minimumResolution``; not what is left of it.
    ///   - purpose: What it is slept for. Default: a wait.
    public func waitForSleeper(of delay: Duration, purpose: TimeSource.SleepPurpose = .wait) async {
        let range = delay - minimumResolution...delay + minimumResolution
        await wait { state in
            state.sleepers.values.contains { $0.purpose == purpose && range.contains($0.delay) }
        }
    }

    /// Waits until the fact is true; no longer once its own task is cancelled.
    func wait(for fact: @escaping @Sendable (State) -> Bool) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    // Whoever cancels comes to the lock before this, and is seen here, or after it.
                    if fact(state) || Task.isCancelled { return false }
                    state.watchers[id] = Watcher(fact: fact, continuation: continuation)
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
    ///
    /// - Parameters:
    ///   - count: How many have to sleep before; at least one has to. Default: 1.
    ///   - purpose: What they sleep for, those who are counted and the one whose deadline it is; nil, the default, is whatever
    ///     for. What guards come and go beside a wait hangs on which thread is first: a test that means a wait says so.
    public func advanceToNextDeadline(afterSleepers count: Int = 1, of purpose: TimeSource.SleepPurpose? = nil) async {
        repeat {
            await wait { $0.next(of: purpose, among: count) != nil }
            if Task.isCancelled { return }
            // Whoever slept may have been cancelled since: then it waits for the next.
        } while !wake { $0.next(of: purpose, among: count)?.deadline }
    }

    /// Moves the clock to the instant that the state leads to, and wakes whoever has slept long enough.
    @discardableResult
    func wake(at instant: (State) -> Instant?) -> Bool {
        let due: [Sleeper]? = state.withLock { state in
            guard let instant = instant(state) else { return nil }
            state.now = max(state.now, instant)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.isDue(before: $1) }
        }
        guard let due else { return false }
        for sleeper in due { sleeper.continuation.resume() }
        notify()
        return true
    }

    /// Wakes whoever sleeps with the error, and lets nobody sleep any more.
    func giveUp(_ end: Endless) {
        let sleepers = state.withLock { state in
            state.end = end
            defer { state.sleepers = [:] }
            return state.sleepers.values
        }
        for sleeper in sleepers { sleeper.continuation.resume(throwing: end) }
        notify()
    }

    /// Tells the watchers of a change.
    private func notify() {
        for watcher in state.withLock({ $0.takeSatisfiedWatchers() }) { watcher.continuation.resume() }
    }

    /// A time source on this clock.
    ///
    /// - Parameter wallTime: The wall time at the clock's present instant. Default: 2030-01-01T00:00:00Z.
    public func timeSource(wallTime: Timestamp = Timestamp(secondsSinceEpoch: 1_893_456_000)) -> TimeSource {
        TimeSource(clock: self, wallTime: wallTime)
    }

    private func register(
        _ deadline: Instant,
        _ purpose: TimeSource.SleepPurpose,
        _ continuation: CheckedContinuation<Void, any Error>,
        id: UInt64
    ) {
        let result: Result<Void, any Error>? = state.withLock { state in
            if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
            if let end = state.end { return .failure(end) }
            let delay = state.now.duration(to: deadline)
            state.delays.append(delay)
            state.lastDelay = delay
            if delay <= .zero { return .success(()) }
            state.sleepers[id] = Sleeper(
                deadline: deadline,
                delay: delay,
                purpose: purpose,
                continuation: continuation
            )
            return nil
        }
        if let result { continuation.resume(with: result) } else { notify() }
    }

    private func cancel(_ id: UInt64) {
        let sleeper = state.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: id)
            // Cancelled before it was registered: remembered until it is.
            if sleeper == nil { state.cancelled.insert(id) }
            return sleeper
        }
        sleeper?.continuation.resume(throwing: CancellationError())
        notify()
    }
}

extension ManualClock.Sleeper {
    /// Whether this one wakes before the other: at the same time, what is waited for comes before what guards it.
    func isDue(before other: ManualClock.Sleeper) -> Bool {
        if deadline != other.deadline { return deadline < other.deadline }
        return purpose == .wait && other.purpose == .guard
    }
}
