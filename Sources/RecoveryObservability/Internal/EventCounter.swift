#if Observability
import HTTPRecovery

/// Counts the events of one hub.
final class EventCounter: Sendable {
    private let meters: Meters
    /// The calls that wait at present.
    private let waiting = Locked<Set<Int>>([])

    init(_ meters: Meters) {
        self.meters = meters
    }

    func note(_ event: RecoveryEvent) {
        switch event.kind {
        case .attempt: endWait(of: event)
        case .wait(let reason, let duration, _):
            meters.time(.waitDuration, duration, [("recovery.reason", reason.rawValue)])
            beginWait(of: event)
        case .retry(_, let reason):
            endWait(of: event)
            meters.count(.retries, [("recovery.reason", reason.rawValue)])
        case .refresh(let result): meters.count(.refreshes, [("recovery.result", result.rawValue)])
        case .breaker(let state, _): meters.set(.breaker, Self.number(of: state), place(of: event))
        case .store(.available): meters.set(.store, 0)
        case .store: meters.set(.store, 1)
        case .givingUp(let outcome, let reason, _, _):
            meters.count(.failures, [("error.type", outcome.kind.rawValue), ("recovery.reason", reason.rawValue)])
        case .done(let end, _, _, let elapsed):
            endWait(of: event)
            let dimensions = [("recovery.result", end.rawValue)]
            meters.count(.calls, dimensions)
            meters.time(.callDuration, elapsed, dimensions)
        default: break
        }
    }

    private func place(of event: RecoveryEvent) -> Meters.Dimensions {
        Server(url: event.url).map(meters.dimensions(of:)) ?? []
    }

    private static func number(of state: String) -> Double {
        switch state {
        case Recovery.CircuitBreaker.State.closed.rawValue, Recovery.CircuitBreaker.State.forcedClosed.rawValue: 0
        case Recovery.CircuitBreaker.State.halfOpen.rawValue: 1
        default: 2
        }
    }

    /// What is made for another call, which waits for it, is not counted beside that.
    private func beginWait(of event: RecoveryEvent) {
        guard event.parent == nil, waiting.withLock({ $0.insert(event.call).inserted }) else { return }
        meters.add(.waiting, 1)
    }

    private func endWait(of event: RecoveryEvent) {
        if waiting.withLock({ $0.remove(event.call) }) != nil { meters.add(.waiting, -1) }
    }
}
#endif
