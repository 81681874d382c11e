#if SQLite
internal import GRDB
import HTTPRecovery

/// A span of time as a row keeps it: from when to when by the wall clock, and since when by the boot clock.
struct StoredSpan {
    /// Microseconds since the epoch.
    var endsAt: Int64
    var setAt: Int64
    var set: BootClock.Value

    /// A span from now on.
    init(of duration: Duration, from now: Timestamp, clock: BootClock) {
        setAt = now.sinceEpoch.microseconds
        endsAt = setAt.saturatingAdding(max(0, duration.microseconds))
        set = clock.read()
    }

    /// Reads the four columns that begin at an index; nil if they hold something else.
    init?(_ row: Row, at index: Int) {
        guard let endsAt = row.integer(index), let setAt = row.integer(index + 1), endsAt >= setAt,
            let boot = row.text(index + 2), let microseconds = row.integer(index + 3)
        else { return nil }
        self.endsAt = endsAt
        self.setAt = setAt
        set = BootClock.Value(boot: boot, microseconds: microseconds)
    }

    /// The values of the four columns.
    var columns: [any DatabaseValueConvertible] { [endsAt, setAt, set.boot, set.microseconds] }

    /// A second.
    private static let tolerance: Int64 = 1_000_000

    private var length: Int64 { endsAt.saturatingSubtracting(setAt) }

    /// What is left, in microseconds; not more than the whole span, whatever was done to the wall clock.
    func left(at now: Timestamp, clock: BootClock) -> Int64 {
        let byWallClock = min(endsAt.saturatingSubtracting(now.sinceEpoch.microseconds), length)
        // Of another run of the machine nothing is known but the span.
        guard let byBootClock = leftByBootClock(clock) else { return byWallClock }
        // The two are not read at the same moment; only a wall clock that was set back is told from that.
        return byWallClock.saturatingSubtracting(byBootClock) > Self.tolerance ? byBootClock : byWallClock
    }

    /// What is left of a span that one of the machine's processes holds: a wall clock that was set forward does not end
    /// it either, else there would be two holders.
    func leftToHolder(at now: Timestamp, clock: BootClock) -> Int64 {
        leftByBootClock(clock) ?? left(at: now, clock: clock)
    }

    /// What is left by the boot clock; nil if the span began in another run of the machine, or none is told.
    private func leftByBootClock(_ clock: BootClock) -> Int64? {
        let reading = clock.read()
        guard reading.boot == set.boot, !reading.boot.isEmpty else { return nil }
        let passed = max(0, reading.microseconds.saturatingSubtracting(set.microseconds))
        return length.saturatingSubtracting(passed)
    }

    /// Whether the clock was set back since another run of the machine, so that the span has to begin anew.
    func isAdrift(at now: Timestamp, clock: BootClock) -> Bool {
        set.boot != clock.read().boot && now.sinceEpoch.microseconds < setAt
    }

    /// The same length from now on.
    func restarted(at now: Timestamp, clock: BootClock) -> StoredSpan {
        StoredSpan(of: .microseconds(length), from: now, clock: clock)
    }
}

extension Duration {
    /// Whole microseconds, rounded up, saturated.
    var microseconds: Int64 {
        min(max(roundedUp(to: .microseconds(1)), .min / 4), .max / 4)
    }
}

// What a row holds is not taken on trust: anything can be in any column.
extension Row {
    func integer(_ index: Int) -> Int64? {
        let value: DatabaseValue = self[index]
        guard case .int64(let integer) = value.storage else { return nil }
        return integer
    }

    func text(_ index: Int) -> String? {
        let value: DatabaseValue = self[index]
        guard case .string(let text) = value.storage else { return nil }
        return text
    }

    func bytes(_ index: Int) -> [UInt8]? {
        let value: DatabaseValue = self[index]
        guard case .blob(let data) = value.storage else { return nil }
        return Array(data)
    }
}
#endif
