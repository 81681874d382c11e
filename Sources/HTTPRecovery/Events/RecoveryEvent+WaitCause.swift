extension RecoveryEvent {
    /// What has a call wait, beside the reason: the reason says what went wrong, the cause who holds the call up.
    @nonexhaustive public enum WaitCause: String, Sendable, Hashable {
        /// A time that a server has stated, to this call or to another one of its scope, or what else an admission holds
        /// calls back for.
        case gate
        /// Its turn in the line of an admission, as ``Recovery/ConcurrencyLimit`` has one.
        case line
        /// The moment that an admission has set for it, as a pace or a limit that is known beforehand.
        case pace
        /// The call's own delay before it sends again.
        case backoff
        /// What lies between the calls of an operation, as between the polls of a sign-in.
        case operation
    }
}
