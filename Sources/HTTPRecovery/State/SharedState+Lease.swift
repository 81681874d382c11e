extension SharedState {
    /// The right to do something that only one may do at a time, for a limited time.
    public struct Lease: Sendable, Hashable {
        /// What is leased.
        public var name: String

        /// A number that is higher than that of every earlier grant of the same name.
        ///
        /// Whoever holds an older one has lost the lease, even if it has not noticed.
        public var fence: UInt64

        /// Creates a lease.
        public init(name: String, fence: UInt64) {
            self.name = name
            self.fence = fence
        }
    }
}
