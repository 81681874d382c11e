/// What is under way, by number alone, and whether more may begin.
final class InFlight: Sendable {
    private struct State {
        var count = 0
        var isClosed = false
        var idle: Flight<Void>?
    }

    private let state = Locked(State())

    /// Takes note of one that begins; false where it may not.
    ///
    /// - Parameter isLetIn: Whether it may begin though no more are taken, by how many are under way.
    func enter(orElse isLetIn: (_ count: Int) -> Bool = { _ in false }) -> Bool {
        state.withLock { state in
            guard !state.isClosed || isLetIn(state.count) else { return false }
            state.count += 1
            return true
        }
    }

    /// Takes note of one that has ended.
    func leave() {
        let idle = state.withLock { state -> Flight<Void>? in
            state.count -= 1
            return state.count == 0 ? state.idle.take() : nil
        }
        idle?.land(.success(()))
    }

    /// Lets no more begin.
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
