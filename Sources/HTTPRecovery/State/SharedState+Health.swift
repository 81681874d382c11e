extension SharedState {
    /// Whether a shared store can be reached.
    public enum Health: Sendable, Hashable {
        /// It answers.
        case available
        /// It does not; this process goes by its own memory until it does again.
        ///
        /// - Parameters:
        ///   - store: The store's name.
        ///   - reason: What went wrong.
        case degraded(store: String, reason: String)
    }
}
