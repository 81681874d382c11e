#if ServiceLifecycle
public import HTTPRecovery
public import ServiceLifecycle

/// Closes a store with its service: what it has not seen yet is written before.
///
/// It stands before the clients that use the store, and so ends after them.
public struct StoreService: Service, CustomStringConvertible {
    private let state: SharedState

    /// Its name; a group logs it in each line about the service.
    public var description: String { "StoreService" }

    /// Creates the service.
    ///
    /// - Parameter state: The way to the store: that of the clients' runtime.
    public init(_ state: SharedState) {
        self.state = state
    }

    /// Waits for the end of the service, and closes the store then, which takes no longer than the store's timeout.
    public func run() async {
        try? await gracefulShutdown()
        await Task { await state.shutdown() }.value
    }
}
#endif
