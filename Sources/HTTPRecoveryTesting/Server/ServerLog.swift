import HTTPRecovery

/// What a server has seen, and the tests that wait for it.
final class ServerLog: Sendable {
    struct State {
        var requests: [FaultServer.Request] = []
        var connections = 0
        var heads = 0
        /// How often each call of a check was seen, by the field that names it.
        var calls: [String: Int] = [:]
        var hangups: Set<Int> = []
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    struct Waiter {
        let isMet: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let state = Locked(State())

    var requests: [FaultServer.Request] { state.withLock { $0.requests } }
    var connections: Int { state.withLock { $0.connections } }
    var calls: [String: Int] { state.withLock { $0.calls } }

    func add(_ request: FaultServer.Request) { change { $0.requests.append(request) } }
    /// Counts the head of a request, and the call that it belongs to, if it names one.
    func addHead(ofCall call: String?) {
        change { state in
            state.heads += 1
            if let call { state.calls[call, default: 0] += 1 }
        }
    }

    func addHangup(of connection: Int) { change { _ = $0.hangups.insert(connection) } }

    /// Forgets what takes room; connections are counted on, as their numbers are their names.
    func forget() {
        state.withLock { state in
            state.requests = []
            state.hangups = []
            state.calls = [:]
        }
    }

    func addConnection() -> Int {
        change { state in
            state.connections += 1
            return state.connections - 1
        }
    }

    /// Returns when the condition holds.
    func wait(until isMet: @escaping @Sendable (State) -> Bool) async throws {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = state.withLock { state in
                    if isMet(state) { return .success(()) }
                    // A cancellation that comes after this finds the waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[id] = Waiter(isMet: isMet, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (result, met) = state.withLock { state in
            let result = body(&state)
            var met: [Waiter] = []
            for (id, waiter) in state.waiters where waiter.isMet(state) {
                met.append(waiter)
                state.waiters[id] = nil
            }
            return (result, met)
        }
        for waiter in met { waiter.continuation.resume() }
        return result
    }
}
