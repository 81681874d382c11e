extension PlannedAttempt {
    /// The turn of an attempt that stands in a line: an ``Admission`` says when it has come.
    public struct Turn: Sendable {
        private let flight = Flight<Void>()

        /// Creates a turn that has not come.
        public init() {}

        /// Lets the attempt go on; more than once is as once.
        public func come() {
            flight.land(.success(()))
        }

        /// Waits for the turn.
        ///
        /// - Throws: `CancellationError` as soon as the task is cancelled.
        func wait() async throws {
            try await flight.value
        }
    }
}
