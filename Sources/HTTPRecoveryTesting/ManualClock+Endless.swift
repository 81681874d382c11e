public import HTTPRecovery

extension ManualClock {
    /// The error of work that goes on for ever while its waits are skipped.
    ///
    /// It sleeps again and again and comes to nothing: a poll that never ends, a pause of nothing in a loop, a heartbeat
    /// of work that is stuck. Work that never ends and does not sleep meanwhile is not found out: give its test a time
    /// limit.
    public struct Endless: Error, Sendable, Hashable, CustomStringConvertible {
        /// How often somebody was woken, or asked for a sleep that was over already.
        public var jumps: Int
        /// The delay that was asked for last.
        public var lastDelay: Duration
        /// What was slept for.
        public var purpose: TimeSource.SleepPurpose

        /// Creates an error.
        public init(jumps: Int, lastDelay: Duration, purpose: TimeSource.SleepPurpose) {
            self.jumps = jumps
            self.lastDelay = lastDelay
            self.purpose = purpose
        }

        /// What repeats itself.
        public var description: String {
            let what =
                switch purpose {
                case .wait: "the work has slept \(jumps) times"
                case .guard: "the work stands still while \(jumps) of its guards have run out"
                }
            return "\(what) and comes to no end; the last delay was \(lastDelay)"
        }
    }
}
