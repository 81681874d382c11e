#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the library takes time from: a monotonic clock to wait on and a wall clock to tell the time.
///
/// Nothing else in the library reads a clock or sleeps, so a test that injects a manual clock controls every wait.
/// The wall time is anchored when the source is made and then follows the monotonic clock: a stepped system clock
/// neither shortens nor lengthens a wait.
public struct TimeSource: Sendable {
    /// A point on the monotonic clock, measured from the making of the source.
    public struct Instant: Sendable, Hashable, Comparable {
        /// The time since the source was made.
        public var sinceStart: Duration

        /// Creates an instant from the time since the source was made.
        public init(sinceStart: Duration) {
            self.sinceStart = sinceStart
        }

        /// The instant `duration` later, saturated.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: sinceStart.saturatingAdding(duration))
        }

        /// The time from this instant to `later`; negative when `later` is earlier.
        public func duration(to later: Instant) -> Duration {
            later.sinceStart.saturatingSubtracting(sinceStart)
        }

        /// Whether the first instant is earlier than the second.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.sinceStart < rhs.sinceStart
        }
    }

    /// One for all copies of the source: each call reads the time several times.
    private final class Clockwork: Sendable {
        let elapsed: @Sendable () -> Duration
        let sleep: @Sendable (Duration, TimeSource.SleepPurpose) async throws -> Void
        let startedAt: Timestamp
        let bootClock: BootClock?

        init(
            startedAt: Timestamp,
            bootClock: BootClock?,
            elapsed: @escaping @Sendable () -> Duration,
            sleep: @escaping @Sendable (Duration, TimeSource.SleepPurpose) async throws -> Void
        ) {
            self.elapsed = elapsed
            self.sleep = sleep
            self.startedAt = startedAt
            self.bootClock = bootClock
        }
    }

    private let clockwork: Clockwork

    /// The machine's boot clock, if the source follows the machine's clocks; nil for one that follows any other.
    package var bootClock: BootClock? { clockwork.bootClock }

    /// Creates a source from a clock and the wall time that belongs to the clock's present instant.
    ///
    /// - Parameters:
    ///   - clock: The clock to read and to sleep on.
    ///   - wallTime: The wall time now; by default the system's.
    public init<C: Clock>(clock: C, wallTime: Timestamp = .system()) where C.Duration == Duration {
        let isContinuous = clock is ContinuousClock
        // Begun before the clock is read: what is slept for by the clock is over by this time too.
        let sinceNow = Self.sinceNow()
        let start = clock.now
        let elapsed = isContinuous ? sinceNow : { @Sendable in start.duration(to: clock.now) }
        clockwork = Clockwork(
            startedAt: wallTime,
            bootClock: isContinuous || clock is SuspendingClock ? .system : nil,
            elapsed: elapsed,
            sleep: { end, _ in
                if end <= start.duration(to: clock.now) { return }
                try await clock.sleep(until: start.advanced(by: end), tolerance: nil)
            }
        )
    }

    /// Creates a source from a clock that is told what each sleep is for.
    ///
    /// - Parameters:
    ///   - clock: The clock to read and to sleep on.
    ///   - wallTime: The wall time now; by default the system's.
    public init<C: TimeSource.PurposefulClock>(clock: C, wallTime: Timestamp = .system()) where C.Duration == Duration {
        let start = clock.now
        clockwork = Clockwork(
            startedAt: wallTime,
            bootClock: nil,
            elapsed: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), for: $1) }
        )
    }

    /// The same source with another boot clock.
    package init(_ source: TimeSource, bootClock: BootClock) {
        let clockwork = source.clockwork
        self.clockwork = Clockwork(
            startedAt: clockwork.startedAt,
            bootClock: bootClock,
            elapsed: clockwork.elapsed,
            sleep: clockwork.sleep
        )
    }

    /// The system's clocks.
    public static let system = TimeSource(clock: ContinuousClock())

    /// The time since this moment by `ContinuousClock`, read without its detours: each call asks for it three times.
    private static func sinceNow() -> @Sendable () -> Duration {
        #if os(Linux)
        let start = BootClock.nanoseconds()
        return { .nanoseconds(BootClock.nanoseconds() - start) }
        #else
        let start = ContinuousClock.now
        return { start.duration(to: .now) }
        #endif
    }

    /// The present instant of the monotonic clock.
    public var now: Instant {
        Instant(sinceStart: clockwork.elapsed())
    }

    /// The present wall time.
    public var wallTime: Timestamp {
        clockwork.startedAt.advanced(by: clockwork.elapsed())
    }

    /// The wall time that belongs to an instant.
    public func wallTime(at instant: Instant) -> Timestamp {
        clockwork.startedAt.advanced(by: instant.sinceStart)
    }

    /// The instant that belongs to a wall time, saturated.
    public func instant(at wallTime: Timestamp) -> Instant {
        Instant(sinceStart: wallTime.elapsed(since: clockwork.startedAt))
    }

    /// Sleeps until the instant; returns at once when it has passed.
    ///
    /// - Parameters:
    ///   - instant: When the sleep is over.
    ///   - purpose: What it is for, which the clock is told if it is a ``TimeSource/PurposefulClock``. Default: a wait.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until instant: Instant, purpose: TimeSource.SleepPurpose = .wait) async throws {
        try Task.checkCancellation()
        try await clockwork.sleep(instant.sinceStart, purpose)
    }

    /// Sleeps for the duration.
    ///
    /// - Parameters:
    ///   - duration: How long.
    ///   - purpose: What it is for, which the clock is told if it is a ``TimeSource/PurposefulClock``. Default: a wait.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration, purpose: TimeSource.SleepPurpose = .wait) async throws {
        try await sleep(until: now.advanced(by: duration), purpose: purpose)
    }
}

extension Timestamp {
    /// The system's wall-clock time.
    public static func system() -> Timestamp {
        let time = SystemClock.read(CLOCK_REALTIME)
        return Timestamp(sinceEpoch: .seconds(time.seconds) + .nanoseconds(time.nanoseconds))
    }
}
