/// The calls of a client that are under way, and whether it takes more.
final class OpenCalls: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var idle: Flight<Void>?
    }

    private let state = Locked(State())

    /// Takes note of a call that begins; false where none is taken any more.
    ///
    /// - Parameter operation: What it is part of. An operation that has begun here is let end, and so is a renewal for
    ///   which calls wait that are under way here.
    func enter(within operation: RecoveryOperation? = nil) -> Bool {
        state.withLock { state in
            let isLetEnd = operation.map { $0.home === self || ($0.home == nil && state.count > 0) } ?? false
            guard isLetEnd || !state.isClosed else { return false }
            state.count += 1
            return true
        }
    }

    /// Takes note of a call that has ended.
    func leave() {
        let idle = state.withLock { state -> Flight<Void>? in
            state.count -= 1
            return state.count == 0 ? state.idle.take() : nil
        }
        idle?.land(.success(()))
    }

    /// Takes no more calls.
    ///
    /// - Returns: Lands when the last one has ended; nil where none is under way.
    func close() -> Flight<Void>? {
        state.withLock { state in
            state.isClosed = true
            guard state.count > 0 else { return nil }
            let idle = state.idle ?? Flight()
            state.idle = idle
            return idle
        }
    }
}
