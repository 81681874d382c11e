import Synchronization

extension RecoveryEvent {
    /// Hands events to all who watch.
    public final class Hub: Sendable {
        private struct Observers {
            var next: UInt64 = 0
            var handlers: [UInt64: @Sendable (RecoveryEvent) -> Void] = [:]
        }

        private let observers = Locked(Observers())
        private let count = Atomic(0)

        /// Creates a hub that nobody watches.
        public init() {}

        /// Whether anybody watches.
        public var isObserved: Bool {
            count.load(ordering: .relaxed) > 0
        }

        /// Calls the function for every event, in order for each call, on the task that caused it; it must not block.
        ///
        /// - Returns: A function that ends the observation.
        @discardableResult
        public func observe(_ handler: @escaping @Sendable (RecoveryEvent) -> Void) -> @Sendable () -> Void {
            let id = observers.withLock { observers in
                observers.next += 1
                observers.handlers[observers.next] = handler
                count.store(observers.handlers.count, ordering: .relaxed)
                return observers.next
            }
            return { [weak self] in self?.remove(id) }
        }

        /// The events from now on, as an asynchronous sequence.
        ///
        /// - Parameter limit: How many events are kept for a slow reader; beyond it the oldest are dropped.
        public func stream(keeping limit: Int = 1024) -> AsyncStream<RecoveryEvent> {
            let (stream, continuation) = AsyncStream.makeStream(
                of: RecoveryEvent.self,
                bufferingPolicy: .bufferingNewest(max(1, limit))
            )
            let stop = observe { continuation.yield($0) }
            continuation.onTermination = { _ in stop() }
            return stream
        }

        /// Tells all who watch.
        public func emit(_ event: RecoveryEvent) {
            let handlers = observers.withLock { Array($0.handlers.values) }
            for handler in handlers { handler(event) }
        }

        private func remove(_ id: UInt64) {
            observers.withLock { observers in
                observers.handlers[id] = nil
                count.store(observers.handlers.count, ordering: .relaxed)
            }
        }
    }
}
