public import HTTPRecovery

/// Remembers the events of a client, for tests.
public final class EventRecorder: Sendable {
    private let recorded = Locked<[RecoveryEvent]>([])

    /// Creates a recorder that watches the hub from now on.
    public init(_ hub: RecoveryEvent.Hub) {
        hub.observe { [weak self] event in
            self?.recorded.withLock { $0.append(event) }
        }
    }

    /// The events so far.
    public var events: [RecoveryEvent] {
        recorded.withLock { $0 }
    }

    /// The events so far as short words, such as `attempt 1` or `wait rate_limited 2.0`.
    public var words: [String] {
        events.map(\.kind.words)
    }
}

extension RecoveryEvent.Kind {
    /// The event in a few words.
    public var words: String {
        switch self {
        case .attempt(let number, _, _, _): "attempt \(number)"
        case .response(let number, let status, _): "response \(number) \(status)"
        case .failure(let number, let outcome): "failure \(number) \(outcome.kind.rawValue)"
        case .wait(let reason, let duration, _): "wait \(reason.rawValue) \(duration.inSeconds)"
        case .line(let reason, let limit, _): "line \(reason.rawValue) \(limit.inSeconds)"
        case .retry(let number, let reason): "retry \(number) \(reason.rawValue)"
        case .refresh(let result): "refresh \(result.rawValue)"
        case .clear(let kind): "clear \(kind.rawValue)"
        case .fallback(let from, let to): "fallback \(from) \(to)"
        case .challenge(let kind, _): "challenge \(kind)"
        case .breaker(let state, let time): "breaker \(state)" + (time.map { " \($0.inSeconds)" } ?? "")
        case .store(.available): "store available"
        case .store(.degraded(let store, _)): "store degraded \(store)"
        case .givingUp(let outcome, let reason, _, _): "giving_up \(outcome.kind.rawValue) \(reason)"
        case .done(let end, let attempts, _, _): "done \(end.rawValue) \(attempts)"
        }
    }
}
