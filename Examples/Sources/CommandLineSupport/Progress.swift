public import HTTPRecovery
import Locking

/// Shows a person what the calls of a client are doing.
///
/// Each wait of a single call is told on a line that stays; the status line counts down and says what is being waited
/// for. Of several calls only the status line speaks.
public final class Progress: Sendable {
    /// What one call is doing.
    enum Activity: Sendable, Hashable {
        case sending(attempt: Int, since: TimeSource.Instant)
        case receiving(since: TimeSource.Instant)
        case waiting(reason: Outcome.Kind, until: TimeSource.Instant)
    }

    private struct State {
        var activities: [Int: Activity] = [:]
        /// How much of the body that is under way has passed.
        var transfers: [Int: MessageBody.Progress] = [:]
        var lastFailure: [Int: String] = [:]
        var done = 0
    }

    private let state = Locked(State())
    private let terminal: Terminal
    private let time: TimeSource
    private let total: Int
    private let tellsWaits: Bool
    private let wording: Wording

    /// Whom the display speaks to.
    public enum Wording: Sendable {
        /// Somebody who has sent requests: attempts, statuses and the words of the outcomes.
        case requests
        /// Somebody who wants something else, such as to sign in: sentences.
        case person
    }

    /// Creates the display.
    ///
    /// - Parameters:
    ///   - terminal: Where to show it.
    ///   - time: The client's time.
    ///   - total: The number of calls.
    ///   - tellsWaits: Whether each wait gets its line, beside the status line; not if a ``Timeline`` tells them.
    ///   - wording: Whom it speaks to.
    public init(
        terminal: Terminal,
        time: TimeSource,
        total: Int,
        tellsWaits: Bool = true,
        wording: Wording = .requests
    ) {
        self.terminal = terminal
        self.time = time
        self.total = total
        self.tellsWaits = tellsWaits
        self.wording = wording
    }

    /// Takes note of an event.
    public func note(_ event: RecoveryEvent) {
        guard terminal.tellsProgress else { return }
        let line: String? = state.withLock { state in
            // Of a single journey only what happens last is under way, whichever of its calls it belongs to.
            if total == 1 { state.activities = [:] }
            state.transfers[event.call] = nil
            switch event.kind {
            case .attempt(let number, _, _, _):
                state.activities[event.call] = .sending(attempt: number, since: event.time)
            case .response: state.activities[event.call] = .receiving(since: event.time)
            case .failure(let number, let outcome):
                state.lastFailure[event.call] = "attempt \(number): \(Self.short(outcome))"
            case .wait(let reason, let duration, let until):
                state.activities[event.call] = .waiting(reason: reason, until: event.time.advanced(by: duration))
                // A question that is asked every few seconds needs no line each time.
                if reason == .challengePending, state.lastFailure[event.call] == nil { return nil }
                let clock = HumanTime.clock(until, now: time.wallTime)
                let wait = "aiting \(HumanTime.text(duration)), until \(clock)"
                // What is kept in mind of an earlier refusal has no failure of its own.
                if wording == .person { return "\(Self.sentence(reason)) W\(wait)." }
                return "\(state.lastFailure[event.call] ?? Self.words(reason)); w\(wait)"
            case .done:
                state.activities[event.call] = nil
                state.lastFailure[event.call] = nil
                state.done += 1
            default: break
            }
            return nil
        }
        if let line, total == 1, tellsWaits { terminal.write(terminal.styled(ScreenText(line), .notice)) }
        if case .challenge = event.kind { terminal.showStatus(nil) }
        if case .wait = event.kind { update() }
        if case .done = event.kind, total == 1 { terminal.showStatus(nil) }
    }

    /// Takes note of how much has passed of the body of a request or an answer.
    public func note(_ transfer: MessageBody.Progress, of call: Int) {
        state.withLock { $0.transfers[call] = transfer }
    }

    /// Keeps the status line up to date until the task is cancelled.
    public func run() async {
        guard terminal.isInteractive else { return }
        while (try? await time.sleep(for: .milliseconds(200))) != nil { update() }
        terminal.showStatus(nil)
    }

    private func update() {
        let (activities, transfer, done) = state.withLock { state in
            // Of several calls the sum would say nothing.
            (Array(state.activities.values), total == 1 ? state.transfers.values.first : nil, state.done)
        }
        let now = time.now
        terminal.showStatus(
            Self.line(activities, transfer, done: done, of: total, now: now, wording: wording) { [time] in
                HumanTime.clock(time.wallTime(at: $0), now: time.wallTime)
            }.map { ScreenText($0) }
        )
    }

    /// The status line; nil while there is nothing to say.
    static func line(
        _ activities: [Activity],
        _ transfer: MessageBody.Progress? = nil,
        done: Int,
        of total: Int,
        now: TimeSource.Instant,
        wording: Wording = .requests,
        clock: (TimeSource.Instant) -> String
    ) -> String? {
        if total == 1 {
            return activities.first.flatMap { line($0, transfer, now: now, wording: wording, clock: clock) }
        }
        var waits: [TimeSource.Instant] = []
        for case .waiting(_, let until) in activities { waits.append(until) }
        var parts = ["\(done) of \(total) done"]
        if activities.count > waits.count { parts.append("\(activities.count - waits.count) running") }
        if let next = waits.min() {
            let left = HumanTime.wholeSeconds(now.duration(to: next))
            parts.append("\(waits.count) waiting, the next until \(clock(next)), \(left) s left")
        }
        return parts.joined(separator: " · ")
    }

    private static func line(
        _ activity: Activity,
        _ transfer: MessageBody.Progress?,
        now: TimeSource.Instant,
        wording: Wording,
        clock: (TimeSource.Instant) -> String
    ) -> String? {
        switch activity {
        case .sending(let attempt, let since):
            let elapsed = since.duration(to: now)
            guard elapsed >= .seconds(1) else { return nil }
            if wording == .person { return "No answer yet, \(HumanTime.wholeSeconds(elapsed)) s" }
            if let transfer, transfer.byteCount != transfer.length {
                return "attempt \(attempt): \(extent(of: transfer)) sent, \(HumanTime.wholeSeconds(elapsed)) s"
            }
            return "attempt \(attempt): no answer yet, \(HumanTime.wholeSeconds(elapsed)) s"
        case .receiving(let since):
            let elapsed = since.duration(to: now)
            guard elapsed >= .seconds(1) else { return nil }
            let amount = transfer.map { ", \(extent(of: $0))" } ?? ""
            return "receiving the answer\(amount), \(HumanTime.wholeSeconds(elapsed)) s"
        case .waiting(let reason, let until):
            let left = HumanTime.text(.seconds(HumanTime.wholeSeconds(now.duration(to: until))))
            switch (wording, reason) {
            // The time belongs to the next question, and not to what is waited for.
            case (.person, .challengePending):
                return "Waiting for the confirmation; asks again in \(left), at \(clock(until))"
            case (.person, _): return "\(left) left, until \(clock(until)). Ctrl-C ends it"
            case (.requests, _): return "\(words(reason)): \(left) left, until \(clock(until))"
            }
        }
    }

    /// How much has passed, and of how much if that is known.
    private static func extent(of transfer: MessageBody.Progress) -> String {
        let passed = HumanSize.text(transfer.byteCount)
        guard let length = transfer.length, let fraction = transfer.fraction else { return passed }
        return "\(passed) of \(HumanSize.text(length)) (\(Int(fraction * 100)) %)"
    }

    /// A failure in a few words.
    private static func short(_ outcome: Outcome) -> String {
        if let error = outcome.transportError { return words(error.code.rawValue) }
        let kind = words(outcome.kind)
        return outcome.status.map { "HTTP \($0), \(kind)" } ?? kind
    }

    /// Why somebody has to wait.
    private static func sentence(_ reason: Outcome.Kind) -> String {
        switch reason {
        case .accountLocked: "The account is locked for a time."
        case .rateLimited, .quotaExhausted: "The server asks for some patience."
        case .challengePending: "The confirmation has not arrived yet."
        case .transport, .timedOut: "The server could not be reached; it is tried again."
        default: "The server cannot answer now; it is tried again."
        }
    }

    private static func words(_ kind: Outcome.Kind) -> String { words(kind.rawValue) }

    private static func words(_ word: String) -> String {
        String(word.map { $0 == "_" ? " " : $0 })
    }
}
