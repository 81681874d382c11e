import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One thread that runs all tasks of a simulation, one after the other, and a clock that jumps to the next sleeper as soon
/// as none of them has anything left to do: the same each time.
final class SimulationLoop: TaskExecutor, TimeSource.PurposefulClock {
    typealias Instant = ManualClock.Instant

    fileprivate struct Sleeper: Sendable {
        var deadline: Instant
        var isGuard: Bool
        var id: UInt64
        var continuation: CheckedContinuation<Void, any Error>

        /// At the same time, what is waited for comes before what guards it, then who came first.
        func isDue(before other: Sleeper) -> Bool {
            if deadline != other.deadline { return deadline < other.deadline }
            return isGuard == other.isGuard ? id < other.id : !isGuard
        }
    }

    fileprivate struct State: Sendable {
        var now = Instant(offset: .zero)
        var jobs = FIFO<UnownedJob>()
        /// Those who sleep, the last one the next to wake.
        var sleepers: [Sleeper] = []
        var cancelled: Set<UInt64> = []
        var lastID: UInt64 = 0
        /// How many sleeps have ended at once since time has passed.
        var idleSleeps = 0
        /// How many may: at the end of time none brings anybody on.
        static let mostIdleSleeps = 100_000
    }

    private let state = Locked(State())
    /// Told when nothing is left to do at a time, before the next one comes.
    private let timeEnds = Locked<(@Sendable () -> Void)?>(nil)

    /// Tells of each time's end from now on.
    func onEndOfTime(_ body: (@Sendable () -> Void)?) { timeEnds.withLock { $0 = body } }

    /// Whether somebody has slept again and again, and no time has passed.
    var standsStill: Bool { state.withLock { $0.idleSleeps > State.mostIdleSleeps } }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs tasks, and lets time pass between them, until the work is done.
    ///
    /// - Returns: False where nothing is left to do and the work is not done: it waits for somebody outside.
    func run(until isDone: () -> Bool) -> Bool {
        var idle = 0
        while !isDone() {
            if let job = state.withLock({ $0.jobs.popFirst() }) {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            } else if let next = wakeNext() {
                next.resume()
            } else {
                // Another thread may be about to hand a task back.
                idle += 1
                guard idle < 20_000 else { return false }
                usleep(500)
                continue
            }
            idle = 0
        }
        return true
    }

    private func wakeNext() -> CheckedContinuation<Void, any Error>? {
        let passes = state.withLock { state in state.sleepers.last.map { $0.deadline > state.now } ?? false }
        if passes { timeEnds.withLock(\.self)?() }
        return state.withLock { state in
            guard let next = state.sleepers.popLast() else { return nil }
            if next.deadline > state.now {
                state.now = next.deadline
                if state.idleSleeps <= State.mostIdleSleeps { state.idleSleeps = 0 }
            }
            return next.continuation
        }
    }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, for: .wait)
    }

    func sleep(until deadline: Instant, for purpose: TimeSource.SleepPurpose) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let sleeper = Sleeper(
                    deadline: deadline,
                    isGuard: purpose == .guard,
                    id: id,
                    continuation: continuation
                )
                if let result = state.withLock({ $0.add(sleeper) }) { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }?.resume(throwing: CancellationError())
        }
    }
}

extension SimulationLoop.State {
    /// - Returns: How its sleep has ended already; nil if it sleeps.
    fileprivate mutating func add(_ sleeper: SimulationLoop.Sleeper) -> Result<Void, any Error>? {
        if cancelled.remove(sleeper.id) != nil { return .failure(CancellationError()) }
        if sleeper.deadline <= now {
            idleSleeps += 1
            return idleSleeps > Self.mostIdleSleeps ? .failure(CancellationError()) : .success(())
        }
        var (low, high) = (0, sleepers.count)
        while low < high {
            let middle = (low + high) / 2
            if sleepers[middle].isDue(before: sleeper) { high = middle } else { low = middle + 1 }
        }
        sleepers.insert(sleeper, at: low)
        return nil
    }

    fileprivate mutating func cancel(_ id: UInt64) -> CheckedContinuation<Void, any Error>? {
        guard let index = sleepers.firstIndex(where: { $0.id == id }) else {
            cancelled.insert(id)
            return nil
        }
        return sleepers.remove(at: index).continuation
    }
}
