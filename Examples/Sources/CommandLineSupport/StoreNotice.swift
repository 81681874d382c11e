public import HTTPRecovery

/// Tells the person at the terminal when the shared store comes and goes.
public enum StoreNotice {
    /// The line for an event; nil for every other event.
    public static func line(_ event: RecoveryEvent) -> ScreenText? {
        guard case .store(let health) = event.kind else { return nil }
        switch health {
        case .available: return "The shared state can be reached again."
        case .degraded(let store, let reason):
            return """
                Warning: the shared state (\(store, limit: 100)) cannot be reached: \(reason, limit: 200). Going by this \
                program's own memory.
                """
        }
    }
}
