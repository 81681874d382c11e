import HTTPRecovery
import HTTPTypes
import Synchronization

/// Whether the gateway should be sent requests, by what its clients tell of.
final class GatewayHealth: Sendable {
    /// A breaker that is not closed.
    private struct Breaker {
        var state: String
        /// Until when it lets nothing out; nil if there is no such time.
        var openUntil: TimeSource.Instant?

        func isOpen(at now: TimeSource.Instant) -> Bool {
            state == Recovery.CircuitBreaker.State.forcedOpen.rawValue || openUntil.map { now < $0 } ?? false
        }
    }

    private struct State {
        var isDraining = false
        /// By origin: the API has one, and so may whoever gives the tokens.
        var breakers: [Origin?: Breaker] = [:]
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
    /// An open breaker speaks against it until its break is over: the next request is the probe, and somebody has to send it.
    /// One that was forced open does until it is released. A
    /// shared store that does not answer does no harm once the token was read: the process goes by its own memory meanwhile.
    func report(canReadTokens: Bool) -> (isReady: Bool, json: JSONValue) {
        let (state, now) = (state.withLock { $0 }, time.now)
        let open = state.breakers.values.first { $0.isOpen(at: now) }
        let breaker = (open ?? state.breakers.values.first)?.state ?? Recovery.CircuitBreaker.State.closed.rawValue
        let isReady = !state.isDraining && open == nil && canReadTokens
        return (
            isReady,
            [
                "status": .string(isReady ? "ready" : "not_ready"), "draining": .bool(state.isDraining),
                "breaker": .string(breaker), "tokens": .string(canReadTokens ? "readable" : "unreadable"),
                "store": .string(state.isStoreAvailable ? "available" : "degraded"),
            ]
        )
    }

    private func note(_ event: RecoveryEvent) {
        switch event.kind {
        case .breaker(let name, let time):
            let origin = event.url.flatMap { try? HTTPRequest(url: $0) }.map(Origin.init(of:))
            // One that a reload has taken away is told of as forced closed at last; what is forced so holds up nothing.
            let isClosed = [Recovery.CircuitBreaker.State.closed, .forcedClosed].map(\.rawValue).contains(name)
            let breaker = Breaker(state: name, openUntil: time.map { self.time.now.advanced(by: $0) })
            state.withLock { $0.breakers[origin] = isClosed ? nil : breaker }
        case .store(let health): state.withLock { $0.isStoreAvailable = health == .available }
        default: break
        }
    }
}
