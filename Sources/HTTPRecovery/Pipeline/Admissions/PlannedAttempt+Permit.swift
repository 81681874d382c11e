extension PlannedAttempt {
    /// What an ``Admission`` has taken for one attempt, until it is told how that ended.
    public struct Permit: Sendable {
        /// How long a permit is kept while the call waits; what is given back is asked for again.
        @nonexhaustive public enum Lifetime: Sendable, Hashable {
            /// Until the attempt has ended, whatever it waits for: a payment.
            case untilTheAttempt
            /// Through the wait that came with it, and through no other: a place in a line, whose time has passed when
            /// something else has held the call up.
            case throughItsWait
            /// While the attempt is due: what others could use meanwhile, as a slot of a concurrency limit.
            case whileDue
        }

        /// What the admission knows it by.
        public let value: any Sendable

        /// How long it is kept while the call waits.
        public let lifetime: Lifetime

        /// Creates a permit.
        ///
        /// - Parameters:
        ///   - value: What the admission knows it by.
        ///   - lifetime: How long it is kept while the call waits. Default: until the attempt has ended.
        public init(_ value: any Sendable, kept lifetime: Lifetime = .untilTheAttempt) {
            self.value = value
            self.lifetime = lifetime
        }
    }
}
