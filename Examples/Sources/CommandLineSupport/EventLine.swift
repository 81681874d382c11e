public import HTTPRecovery

/// An event as one line of JSON, by the contract of the command-line programs.
public enum EventLine {
    /// The line of an event, without its end; nil for what belongs to no call.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - call: The call's number; by default the event's.
    public static func text(_ event: RecoveryEvent, call: Int? = nil) -> String? {
        guard let name = name(of: event.kind) else { return nil }
        return text(name, time: event.time, call: call ?? event.call, fields: fields(of: event.kind))
    }

    /// The line of an event that is no ``HTTPRecovery/RecoveryEvent``.
    static func text(
        _ name: String,
        time: TimeSource.Instant,
        call: Int,
        fields: [JSONValue.Member]
    ) -> String {
        let common: [JSONValue.Member] = [
            .init("event", .string(name)),
            .init("t_ms", milliseconds(time.sinceStart)),
            .init("call", .number(JSONValue.Number(call))),
        ]
        return ScreenText(json: .object(common + fields)).description
    }

    private static func name(of kind: RecoveryEvent.Kind) -> String? {
        switch kind {
        case .attempt: "attempt"
        case .response: "response"
        case .failure: "failure"
        case .wait, .line: "wait"
        case .retry: "retry"
        case .refresh: "refresh"
        case .clear: "clear"
        case .fallback: "fallback"
        case .challenge: "challenge"
        case .givingUp: "giving_up"
        case .done: "done"
        case .breaker, .store: nil
        @unknown default: nil
        }
    }

    private static func fields(of kind: RecoveryEvent.Kind) -> [JSONValue.Member] {
        switch kind {
        case .attempt(let number, let method, let url, let transport):
            [
                .init("n", .number(JSONValue.Number(number))), .init("method", .string(method)),
                .init("url", .string(url)),
                .init("transport", .string(transport)),
            ]
        case .response(let number, let status, let elapsed):
            [
                .init("n", .number(JSONValue.Number(number))), .init("status", .number(JSONValue.Number(status))),
                .init("elapsed_ms", milliseconds(elapsed)),
            ]
        case .failure(let number, let outcome):
            [
                .init("n", .number(JSONValue.Number(number))), .init("kind", .string(outcome.kind.rawValue)),
                .init("code", outcome.loggableCode.map(JSONValue.string) ?? .null),
                .init("scope", .string(outcome.scope.rawValue)),
                .init("retry_after_s", outcome.statedWait.map(seconds) ?? .null),
                .init("processed", .string(outcome.processed.rawValue)),
            ]
        // In a line the time is the longest that it may take.
        case .wait(let reason, let duration, let until), .line(let reason, let duration, let until):
            [
                .init("reason", .string(reason.rawValue)), .init("seconds", seconds(duration)),
                .init("until", .string(until.rfc3339)),
            ]
        case .retry(let number, let reason):
            [.init("n", .number(JSONValue.Number(number))), .init("reason", .string(reason.rawValue))]
        case .refresh(let result): [.init("outcome", .string(result.rawValue))]
        case .clear(let credential): [.init("credential", .string(credential.rawValue))]
        case .fallback(let from, let to): [.init("from", .string(from)), .init("to", .string(to))]
        case .challenge(let kind, let destination):
            [
                .init("kind", .string(kind)),
                .init("destination", destination.map { .string(Masking.destination($0)) } ?? .null),
            ]
        case .givingUp(let outcome, let reason, let retryAfter, let until):
            [
                .init("kind", .string(outcome.kind.rawValue)), .init("reason", .string(reason.rawValue)),
                .init("retry_after_s", retryAfter.map(seconds) ?? .null),
                .init("until", until.map { .string($0.rfc3339) } ?? .null),
            ]
        case .done(let end, let attempts, let waited, let elapsed):
            doneFields(end, attempts: attempts, waited: waited, elapsed: elapsed)
        case .breaker, .store: []
        @unknown default: []
        }
    }

    static func doneFields(
        _ end: RecoveryEvent.End,
        attempts: Int,
        waited: Duration,
        elapsed: Duration
    ) -> [JSONValue.Member] {
        [
            .init("outcome", .string(end.rawValue)), .init("attempts", .number(JSONValue.Number(attempts))),
            .init("waited_s", seconds(waited)), .init("elapsed_ms", milliseconds(elapsed)),
        ]
    }

    /// Whole milliseconds, rounded down.
    static func milliseconds(_ duration: Duration) -> JSONValue {
        let (seconds, attoseconds) = duration.components
        return .number(JSONValue.Number(seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// Seconds with at most three decimals, rounded up: nobody who waits that long is early.
    static func seconds(_ duration: Duration) -> JSONValue {
        let (seconds, attoseconds) = max(duration, .zero).components
        let unit: Int64 = 1_000_000_000_000_000
        let milliseconds = (attoseconds + unit - 1) / unit
        return .number(JSONValue.Number(seconds: .seconds(seconds) + .milliseconds(milliseconds)))
    }
}
