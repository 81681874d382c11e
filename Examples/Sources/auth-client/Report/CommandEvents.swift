import HTTPRecovery
import Locking

/// The events of one command, which may make many calls, as those of a single call.
///
/// The attempts of all calls are counted through; what a single call gives up or ends with is an inner affair of the
/// command, which says at its own end what it has come to.
final class CommandEvents: Sendable {
    private struct State {
        var attempts = 0
        var waited = Duration.zero
        /// When the wait under way has begun.
        var waitingSince: TimeSource.Instant?
        /// The command's number of an attempt, by its call and the call's own number.
        var numbers: [Int: [Int: Int]] = [:]
        var isDone = false

        /// Counts what was waited, which an interruption makes shorter than what was planned.
        mutating func endWait(at now: TimeSource.Instant) {
            if let since = waitingSince { waited = waited.saturatingAdding(since.duration(to: now)) }
            waitingSince = nil
        }

        func number(_ number: Int, of call: Int) -> Int {
            numbers[call]?[number] ?? attempts
        }
    }

    private let sink: @Sendable (RecoveryEvent) -> Void
    private let time: TimeSource
    private let start: TimeSource.Instant
    private let state = Locked(State())

    init(time: TimeSource, sink: @escaping @Sendable (RecoveryEvent) -> Void) {
        self.sink = sink
        self.time = time
        self.start = time.now
    }

    /// Takes an event of one of the calls.
    func take(_ event: RecoveryEvent) {
        let kind: RecoveryEvent.Kind? = state.withLock { state in
            state.endWait(at: event.time)
            switch event.kind {
            case .attempt(let number, let method, let url, let transport):
                state.attempts += 1
                state.numbers[event.call, default: [:]][number] = state.attempts
                return .attempt(number: state.attempts, method: method, url: url, transport: transport)
            case .response(let number, let status, let elapsed):
                return .response(number: state.number(number, of: event.call), status: status, elapsed: elapsed)
            case .failure(let number, let outcome):
                return .failure(number: state.number(number, of: event.call), outcome)
            case .retry(_, let reason):
                return .retry(number: state.attempts + 1, reason: reason)
            case .wait, .line:
                state.waitingSince = event.time
                return event.kind
            case .givingUp, .done:
                return nil
            default:
                return event.kind
            }
        }
        if let kind { write(kind, at: event.time) }
    }

    /// Writes how the command has ended.
    ///
    /// - Returns: Whether that was not known before.
    func finish(_ report: Report) -> Bool {
        let now = time.now
        let (isFirst, attempts, waited) = state.withLock { state in
            defer { state.isDone = true }
            state.endWait(at: now)
            return (!state.isDone, state.attempts, state.waited)
        }
        guard isFirst else { return false }
        if let end = report.givingUp { write(end, at: now) }
        let elapsed = start.duration(to: now)
        write(.done(report.end.event, attempts: attempts, waited: waited, elapsed: elapsed), at: now)
        return true
    }

    private func write(_ kind: RecoveryEvent.Kind, at time: TimeSource.Instant) {
        sink(RecoveryEvent(call: 1, time: time, kind: kind))
    }
}
