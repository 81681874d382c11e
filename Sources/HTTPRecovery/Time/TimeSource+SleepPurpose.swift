extension TimeSource {
    /// What somebody sleeps for.
    public enum SleepPurpose: Sendable, Hashable {
        /// The program goes on when it is over: a pause between attempts, between two questions of a poll.
        case wait
        /// It bounds or accompanies what is under way meanwhile, and is left off when that ends: a timeout, a heartbeat.
        case `guard`
    }
}
