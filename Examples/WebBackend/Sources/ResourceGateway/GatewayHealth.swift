import HTTPRecovery
import Synchronization

/// Whether the gateway should be sent requests, by what its clients tell of.
final class GatewayHealth: Sendable {
    private struct State {
        var isDraining = false
        var breaker = Recovery.CircuitBreaker.State.closed.rawValue
        /// Until when the breaker lets nothing out.
        var openUntil: TimeSource.Instant?
        var isStoreAvailable = true
    }

    private let time: TimeSource
    private let state = Mutex(State())

    init(_ runtime: Runtime) {
        time = runtime.time
        _ = runtime.events.observe { [weak self] in self?.note($0) }
    }

    /// Begins to say that the gateway is on its way out.
    func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// Whether it should be sent requests, and what speaks for and against it.
    ///
    /// - Parameter canReadTokens: Whether the token can be read: without it no call can be made.
    ///
    /// An open breaker speaks against it until its break is over: the next request is the probe, and somebody has to send it. A
    /// shared store that does not answer does no harm once the token was read: the process goes by its own memory meanwhile.
    func report(canReadTokens: Bool) -> (isReady: Bool, json: JSONValue) {
        let (state, now) = (state.withLock { $0 }, time.now)
        let isOpen = state.openUntil.map { now < $0 } ?? false
        let isReady = !state.isDraining && !isOpen && canReadTokens
        return (
            isReady,
            [
                "status": .string(isReady ? "ready" : "not_ready"), "draining": .bool(state.isDraining),
                "breaker": .string(state.breaker), "tokens": .string(canReadTokens ? "readable" : "unreadable"),
                "store": .string(state.isStoreAvailable ? "available" : "degraded"),
            ]
        )
    }

    private func note(_ event: RecoveryEvent) {
        switch event.kind {
        case .breaker(let name, let time):
            let until = time.map { self.time.now.advanced(by: $0) }
            state.withLock { ($0.breaker, $0.openUntil) = (name, until) }
        case .store(let health): state.withLock { $0.isStoreAvailable = health == .available }
        default: break
        }
    }
}
