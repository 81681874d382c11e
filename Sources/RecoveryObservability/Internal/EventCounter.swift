#if Observability
import HTTPRecovery

/// Counts the events of one hub.
final class EventCounter: Sendable {
    /// A call that waits.
    private struct Wait {
        let cause: RecoveryEvent.WaitCause
        let reason: Outcome.Kind
        let since: TimeSource.Instant
        let isCounted: Bool
    }

    private let meters: Meters
    /// The calls that wait at present, by their numbers.
    private let waits = Locked<[Int: Wait]>([:])

    init(_ meters: Meters) {
        self.meters = meters
    }

    func note(_ event: RecoveryEvent) {
        switch event.kind {
        case .attempt: endWait(of: event)
        case .wait(let reason, let duration, _):
            let wait = beginWait(of: event, reason)
            meters.time(.waitDuration, duration, Self.dimensions(of: wait))
        case .line(let reason, _, _): beginWait(of: event, reason)
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
        switch Recovery.CircuitBreaker.State(rawValue: state) {
        case .open, .forcedOpen: 2
        case .halfOpen: 1
        default: 0
        }
    }

    private static func dimensions(of wait: Wait) -> Meters.Dimensions {
        [("recovery.reason", wait.reason.rawValue), ("recovery.wait.cause", wait.cause.rawValue)]
    }

    /// What is made for another call, which waits for it, is not counted beside that.
    @discardableResult
    private func beginWait(of event: RecoveryEvent, _ reason: Outcome.Kind) -> Wait {
        let wait = Wait(
            cause: event.waitCause ?? .operation,
            reason: reason,
            since: event.time,
            isCounted: event.parent == nil
        )
        let before = waits.withLock { waits in
            defer { waits[event.call] = wait }
            return waits[event.call]
        }
        if let before { end(before, at: event.time) }
        count(wait, 1)
        return wait
    }

    private func endWait(of event: RecoveryEvent) {
        if let wait = waits.withLock({ $0.removeValue(forKey: event.call) }) { end(wait, at: event.time) }
    }

    /// Only of a line is not known before it ends how long it takes.
    private func end(_ wait: Wait, at now: TimeSource.Instant) {
        count(wait, -1)
        if wait.cause == .line { meters.time(.waitDuration, wait.since.duration(to: now), Self.dimensions(of: wait)) }
    }

    private func count(_ wait: Wait, _ amount: Double) {
        if wait.isCounted { meters.add(.waiting, amount, [("recovery.wait.cause", wait.cause.rawValue)]) }
    }
}
#endif
