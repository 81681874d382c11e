import AuthRecovery
import HTTPRecovery

/// The way of a resumable upload: begun, sent chunk by chunk from where the server wants to go on, finished.
struct FacebookUploadPlan: RecoveryOperation.Plan {
    /// What the server wants next.
    struct Offsets: Sendable, Equatable {
        var start: Int64
        var end: Int64

        /// Reads the offsets that an answer states; nil if they lead beyond the file.
        init?(_ json: JSONValue, size: Int64) {
            guard let start = json["start_offset"]?.lenientNumber?.saturatedInt, (0...size).contains(start) else {
                return nil
            }
            let end = json["end_offset"]?.lenientNumber?.saturatedInt ?? size
            self.start = start
            self.end = min(max(end, start), size)
        }
    }

    enum Step: Sendable {
        case start
        case transfer(session: String, Offsets)
        case finish(session: String)
    }

    struct Answer: Sendable {
        var json: JSONValue
        var response: RecoveredResponse
    }

    /// How many answers in a row, without a byte that the server did not have before, end it.
    private static let maximumFailures = 5

    let size: Int64

    private var session: String?
    private var offsets: Offsets?
    private var isFinishing = false
    private var failures = 0
    /// What the chunk failed with that is sent again.
    private var repetition: Outcome.Kind?
    /// If the server wants to go back, coming forward again is no progress: else it could go on for ever.
    private var furthest: Int64 = 0

    init(size: Int64) {
        self.size = size
    }

    mutating func next(
        after event: RecoveryOperation.Event<Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Step, JSONValue> {
        switch event {
        case .begun: return .perform(.start)
        case .answered(let answer): return goOn(after: answer)
        case .failed(let error):
            // The server says where to go on.
            guard session != nil, !isFinishing, let advice = error.outcome.advice, advice["start_offset"] != nil,
                let next = Offsets(advice, size: size)
            else { return .fail(error) }
            return goBack(to: next, after: error, random: random)
        case .paused: return goOn()
        case .notPaused(let error): return .fail(error)
        }
    }

    private mutating func goOn() -> RecoveryOperation.Action<Step, JSONValue> {
        guard let session, let offsets else { return .perform(.start) }
        guard offsets.start < offsets.end else {
            isFinishing = true
            return .perform(.finish(session: session))
        }
        defer { repetition = nil }
        return .perform(.transfer(session: session, offsets), repeating: repetition)
    }

    private mutating func goOn(after answer: Answer) -> RecoveryOperation.Action<Step, JSONValue> {
        if isFinishing { return .finish(answer.json) }
        guard let next = Offsets(answer.json, size: size) else {
            return .fail(RecoveryError(.unreadable, in: answer.response))
        }
        guard session != nil else {
            guard let session = answer.json["upload_session_id"]?.codeText else {
                return .fail(RecoveryError(.unreadable, in: answer.response))
            }
            (self.session, offsets, furthest) = (session, next, next.start)
            return goOn()
        }
        advance(to: next)
        guard failures < Self.maximumFailures else {
            var end = RecoveryError(.unavailable, in: answer.response)
            end.outcome.message = "the upload does not come forward: byte \(furthest) of \(size)"
            end.reason = .attemptsExhausted
            return .fail(end)
        }
        return goOn()
    }

    private mutating func goBack(
        to next: Offsets,
        after error: RecoveryError,
        random: () -> Double
    ) -> RecoveryOperation.Action<Step, JSONValue> {
        advance(to: next)
        guard failures < Self.maximumFailures else {
            var end = error
            end.reason = .attemptsExhausted
            return .fail(end)
        }
        repetition = error.kind
        guard failures > 0 else { return goOn() }
        let backoff = Backoff.exponential(base: .seconds(1), jitter: .equal)
        return .pause(backoff.delay(retry: failures - 1, random: random()), reason: .unavailable)
    }

    private mutating func advance(to next: Offsets) {
        failures = next.start > furthest ? 0 : failures + 1
        furthest = max(furthest, next.start)
        offsets = next
    }
}
