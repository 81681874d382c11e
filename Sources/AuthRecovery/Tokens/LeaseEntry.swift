import HTTPRecovery

/// What is written of the lease of a token file.
struct LeaseEntry: Sendable, Equatable {
    var fence: UInt64
    /// When it was granted or extended by the wall clock, in milliseconds since 1970.
    var setAt: Int64
    /// For how long, in milliseconds; 0 once it was given back.
    var length: Int64
    /// The same moment by the machine's boot clock; nil if it is not known.
    var boot: BootClock.Value?
    /// Whether the holder proves that it lives by a lock.
    var isLocked: Bool
    /// The holder's number, for whoever looks at the file; in another PID namespace it is another's.
    var holder: Int32

    /// A day, in milliseconds: no lease is granted for longer.
    private static let longest: Int64 = 86_400_000

    init(
        fence: UInt64,
        at time: TimeSource,
        for duration: Duration,
        isLocked: Bool,
        holder: Int32
    ) {
        self.fence = fence
        self.setAt = Self.milliseconds(time.wallTime.sinceEpoch)
        self.length = min(max(0, Self.milliseconds(duration)), Self.longest)
        self.boot = time.bootClock?.read()
        self.isLocked = isLocked
        self.holder = holder
    }

    /// Reads an entry; what cannot be read is none.
    ///
    /// Of the form of earlier versions, three words, only the fence counts: nothing proves that its holder lives.
    init?(_ text: String) {
        let words = text.split(omittingEmptySubsequences: true) { $0 == " " || $0 == "\n" }
        guard let fence = words.first.flatMap({ UInt64($0) }), fence < 1 << 62 else { return nil }
        self.fence = fence
        if words.count == 3, Int64(words[1]) != nil, Int32(words[2]) != nil {
            self.setAt = 0
            self.length = 0
            self.boot = nil
            self.isLocked = false
            self.holder = 0
            return
        }
        guard words.count == 7, let setAt = Int64(words[1]), let length = Int64(words[2]),
            let microseconds = Int64(words[4]), let isLocked = Self.proofs[String(words[5])],
            let holder = Int32(words[6]), setAt >= 0, setAt < .max / 4, length >= 0, length <= Self.longest
        else { return nil }
        self.setAt = setAt
        self.length = length
        let boot = String(words[3])
        self.boot = boot == "-" ? nil : BootClock.Value(boot: boot, microseconds: microseconds)
        self.isLocked = isLocked
        self.holder = holder
    }

    private static let proofs = ["locked": true, "unlocked": false]

    /// The entry as it is written.
    var text: String {
        let boot = boot.flatMap { $0.boot.isEmpty ? nil : $0 }
        return [
            "\(fence)", "\(setAt)", "\(length)", boot?.boot ?? "-", "\(boot?.microseconds ?? 0)",
            isLocked ? "locked" : "unlocked", "\(holder)",
        ].joined(separator: " ") + "\n"
    }

    /// Whether its time has not run out.
    ///
    /// Within one run of the machine its boot clock tells, which nobody sets; else the wall clock, and never more than the
    /// whole length.
    func isRunning(at time: TimeSource) -> Bool {
        if let boot, !boot.boot.isEmpty, let now = time.bootClock?.read(), now.boot == boot.boot {
            let passed = now.microseconds.saturatingSubtracting(boot.microseconds)
            // A clock before that is not the same one, as in another time namespace.
            if passed >= 0 { return passed / 1000 < length }
        }
        let passed = Self.milliseconds(time.wallTime.sinceEpoch).saturatingSubtracting(setAt)
        return passed < length && passed > -length
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        min(max(duration.whole(.milliseconds(1)), 0), .max / 8)
    }
}
