import HTTPRecovery

/// The time of an attempt that nothing else ends, and when the server did to it what the check is about.
///
/// A busy machine may meet the limit before there is anything to tell. That shows at the server: what it did too late, or
/// not at all, proves nothing about an attempt whose time was over. Such a check is done again with four times the limit;
/// whatever else fails, fails at once, and so does the last.
final class TimeLimit: Sendable {
    private struct TooLate: Error {}

    private static let all: [Duration] = [.seconds(1), .seconds(4), .seconds(16), .seconds(64)]

    let duration: Duration
    private let isLast: Bool
    private let start = Locked<ContinuousClock.Instant?>(nil)
    private let deed = Locked<ContinuousClock.Instant?>(nil)

    private init(_ duration: Duration, isLast: Bool) {
        (self.duration, self.isLast) = (duration, isLast)
    }

    /// Does a check within a limit that is long enough for this machine.
    ///
    /// - Parameters:
    ///   - isNeeded: Whether only its time ends the attempt; if not there is one limit, of a day.
    ///   - check: The check, with servers and transports of its own; says with ``judge(_:)`` what its attempt came to
    ///     before it looks at anything else.
    static func tried(isNeeded: Bool = true, _ check: (TimeLimit) async throws -> Void) async throws {
        let all = isNeeded ? all : [.seconds(86_400)]
        for (index, duration) in all.enumerated() {
            do {
                return try await check(TimeLimit(duration, isLast: index == all.count - 1))
            } catch is TooLate {
                continue
            }
        }
    }

    /// Begins the attempt.
    func begin() -> AttemptOptions {
        start.withLock { $0 = .now }
        return AttemptOptions(timeout: duration)
    }

    /// The server does what the check is about; the first time counts.
    func isMet() { deed.withLock { $0 = $0 ?? .now } }

    /// Leaves the check, to do it again, if it was too late for the attempt to tell anything.
    ///
    /// - Throws: ``ConformanceFailure`` if the time was not over when the attempt said so.
    func judge(_ attempt: TransportBench.Attempt) throws {
        guard (attempt.error as? TransportError)?.code == .timedOut, let start = start.withLock({ $0 }) else { return }
        let spent = start.duration(to: .now)
        // Timers of milliseconds may be one too early.
        if spent < duration * 9 / 10 {
            throw ConformanceFailure("an attempt ended by its time of \(duration) after \(spent)")
        }
        // What is left has to be enough for the client to notice; one that saw the time's end late was kept from its work.
        let isInTime = deed.withLock { $0.map { start.duration(to: $0) <= duration / 4 } } ?? false
        if !isLast, !isInTime || spent > duration * 5 / 4 { throw TooLate() }
    }
}
