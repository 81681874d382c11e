public import HTTPRecovery

/// What calls have done, as a line for each event that a person can read.
public final class Timeline: Sendable {
    private let terminal: Terminal
    private let start: TimeSource.Instant
    private let time: TimeSource
    private let total: Int

    /// Creates a timeline that begins now.
    ///
    /// - Parameters:
    ///   - terminal: Where it is written.
    ///   - time: The client's time.
    ///   - total: The number of calls; of several, each line says which call it belongs to.
    public init(terminal: Terminal, time: TimeSource, total: Int) {
        self.terminal = terminal
        self.time = time
        self.start = time.now
        self.total = total
    }

    /// Writes the line of an event.
    public func note(_ event: RecoveryEvent) {
        guard !terminal.isQuiet, let text = Self.text(event.kind, now: time.wallTime) else { return }
        let stamp = Self.stamp(start.duration(to: event.time))
        let call: ScreenText = total > 1 && event.call > 0 ? "call \(event.call): " : ""
        let line: ScreenText = "\(stamp)  \(call)\(text, limit: 500)"
        terminal.write(Self.style(event.kind).map { terminal.styled(line, $0) } ?? line)
    }

    /// Seconds and milliseconds, so that the texts of the lines begin below each other.
    static func stamp(_ duration: Duration) -> String {
        let (seconds, attoseconds) = max(duration, .zero).components
        let milliseconds = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        let text = "\(seconds).\(milliseconds)"
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }

    /// What an event says; nil for what is told elsewhere.
    static func text(_ kind: RecoveryEvent.Kind, now: Timestamp) -> String? {
        switch kind {
        case .attempt(let number, let method, let url, let transport):
            return "attempt \(number): \(method) \(url) (\(transport))"
        case .response(let number, let status, let elapsed):
            return "attempt \(number): HTTP \(status), \(milliseconds(elapsed)) ms"
        case .failure(let number, let outcome):
            return "attempt \(number): \(failure(outcome))"
        case .wait(let reason, let duration, let until):
            return "wait \(span(duration)), until \(HumanTime.clock(until, now: now)): \(words(reason.rawValue))"
        case .line(let reason, let limit, _):
            return "stands in line, for \(span(limit)) at most: \(words(reason.rawValue))"
        case .retry(let number, let reason):
            return "attempt \(number) follows: \(words(reason.rawValue))"
        case .refresh(let result):
            return "token: \(words(result.rawValue))"
        case .clear(let credential):
            return "cleared: \(words(credential.rawValue))"
        case .fallback(let from, let to):
            return "falls back from \(words(from)) to \(words(to))"
        case .challenge(let kind, let destination):
            return "asks for: \(words(kind))\(destination.map { ", \(Masking.destination($0))" } ?? "")"
        case .givingUp(let outcome, let reason, let retryAfter, let until):
            var text = "gives up: \(words(outcome.kind.rawValue)) (\(words(reason.rawValue)))"
            if let retryAfter { text += ", worth trying again in \(HumanTime.text(retryAfter))" }
            if let until { text += " at \(HumanTime.clock(until, now: now))" }
            return text
        case .done(let end, let attempts, let waited, let elapsed):
            let count = attempts == 1 ? "1 attempt" : "\(attempts) attempts"
            return "done: \(end.rawValue), \(count), waited \(span(waited)) of \(span(elapsed))"
        case .breaker(let state, let time):
            return "breaker: \(words(state))\(time.map { " for \(span($0))" } ?? "")"
        case .store:
            return nil
        @unknown default:
            return nil
        }
    }

    private static func failure(_ outcome: Outcome) -> String {
        var text = words(outcome.kind.rawValue)
        if let code = outcome.loggableCode { text += " \(code)" }
        if let error = outcome.transportError { text += ": \(words(error.code.rawValue))" }
        text += "; scope \(outcome.scope.rawValue), processed: \(outcome.processed.rawValue)"
        if let wait = outcome.statedWait { text += ", the server states \(HumanTime.text(wait))" }
        return text
    }

    private static func style(_ kind: RecoveryEvent.Kind) -> Terminal.Style? {
        switch kind {
        case .attempt, .response: .faint
        case .failure, .wait, .line, .givingUp: .notice
        case .done(.ok, _, _, _): .good
        case .done(.failed, _, _, _): .bad
        default: nil
        }
    }

    /// A duration; of less than a second every millisecond counts.
    private static func span(_ duration: Duration) -> String {
        duration < .seconds(1) ? "\(milliseconds(duration)) ms" : HumanTime.text(duration)
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = max(duration, .zero).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    private static func words(_ word: String) -> String {
        String(word.map { $0 == "_" ? " " : $0 })
    }
}
