extension SharedState {
    /// Why a store failed; it never holds a record's content.
    public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
        /// What went wrong and what to do.
        public let description: String

        /// Creates an error.
        public init(_ description: String) {
            self.description = description
        }
    }
}
