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
        /// Read what has become of a video whose publishing had no answer.
        case check(video: String)
    }

    struct Answer: Sendable {
        var json: JSONValue
        var response: RecoveredResponse
    }

    /// How many answers in a row, without a byte that the server did not have before, end it.
    private static let maximumFailures = 5
    /// The largest chunk that is sent, whatever the server asks for, and the smallest that one is halved to.
    private static let chunks: ClosedRange<Int64> = (256 << 10)...(16 << 20)

    let size: Int64

    private enum Phase {
        case starting
        case transferring(session: String, Offsets)
        case finishing(session: String)
        /// With the error that has left the publishing in doubt.
        case checking(session: String, RecoveryError)
    }

    private var phase = Phase.starting
    private var videoID: String?
    private var failures = 0
    private var restarts = 0
    private var hasChecked = false
    private var longestChunk = Self.chunks.upperBound
    /// What the step failed with that is done again.
    private var repetition: Outcome.Kind?
    /// If the server wants to go back, coming forward again is no progress: else it could go on for ever.
    private var furthest: Int64 = 0

    init(size: Int64) {
        self.size = size
    }

    typealias Action = RecoveryOperation.Action<Step, FacebookUpload.Receipt>

    mutating func next(
        after event: RecoveryOperation.Event<Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> Action {
        switch event {
        case .begun, .paused: perform()
        case .answered(let answer): goOn(after: answer)
        case .failed(let error): goOn(after: error, random)
        case .notPaused(let error): .fail(error)
        }
    }

    private mutating func perform() -> Action {
        defer { repetition = nil }
        switch phase {
        case .starting: return .perform(.start, repeating: repetition)
        case .transferring(let session, var offsets):
            guard offsets.start < offsets.end else {
                phase = .finishing(session: session)
                return .perform(.finish(session: session))
            }
            offsets.end = min(offsets.end, offsets.start + longestChunk)
            return .perform(.transfer(session: session, offsets), repeating: repetition)
        case .finishing(let session): return .perform(.finish(session: session), repeating: repetition)
        case .checking(_, let doubt):
            guard let videoID else { return .fail(doubt) }
            return .perform(.check(video: videoID))
        }
    }

    // MARK: Answers

    private mutating func goOn(after answer: Answer) -> Action {
        switch phase {
        case .starting:
            guard let offsets = Offsets(answer.json, size: size),
                let session = answer.json["upload_session_id"]?.codeText
            else { return .fail(RecoveryError(.unreadable, in: answer.response)) }
            videoID = answer.json["video_id"]?.codeText?.bounded(to: 64)
            (phase, furthest) = (.transferring(session: session, offsets), offsets.start)
        case .transferring(let session, _):
            guard let offsets = Offsets(answer.json, size: size) else {
                return .fail(RecoveryError(.unreadable, in: answer.response))
            }
            advance(to: offsets, of: session)
            guard failures < Self.maximumFailures else {
                var end = RecoveryError(.unavailable, in: answer.response)
                end.outcome.message = "the upload does not come forward: byte \(furthest) of \(size)"
                end.reason = .attemptsExhausted
                return .fail(end)
            }
        case .finishing: return .finish(receipt(answer.json))
        case .checking(let session, let doubt):
            switch answer.json["status"]?["video_status"]?.string {
            case "processing", "ready", "upload_complete", "published": return .finish(receipt(answer.json))
            // What was not taken note of has published nothing.
            case "uploading":
                (phase, repetition) = (.finishing(session: session), doubt.kind)
            default: return .fail(doubt)
            }
        }
        return perform()
    }

    private func receipt(_ json: JSONValue) -> FacebookUpload.Receipt {
        FacebookUpload.Receipt(id: json["video_id"]?.codeText?.bounded(to: 64) ?? videoID, answer: json)
    }

    // MARK: Failures

    private mutating func goOn(after error: RecoveryError, _ random: () -> Double) -> Action {
        switch phase {
        case .starting: return .fail(error)
        case .transferring(let session, let offsets):
            if error.kind == .flowExpired, restarts == 0 {
                // The session is gone, and with it what it had.
                (restarts, phase, repetition) = (1, .starting, error.kind)
                return perform()
            }
            if let advice = error.outcome.advice, advice["start_offset"] != nil {
                guard let next = Offsets(advice, size: size) else { return .fail(error) }
                advance(to: next, of: session)
            } else if error.outcome.subcode == Self.tooSlow, longestChunk > Self.chunks.lowerBound {
                longestChunk = max(min(longestChunk, offsets.end - offsets.start) / 2, Self.chunks.lowerBound)
                failures += 1
            } else {
                return .fail(error)
            }
            return again(after: error, random)
        case .finishing(let session):
            // Whether it was published, the video itself tells.
            guard videoID != nil, !hasChecked, error.outcome.processed != .no, error.isOfNoAnswer else {
                return .fail(error)
            }
            hasChecked = true
            phase = .checking(session: session, error)
            return perform()
        case .checking(_, let doubt): return .fail(doubt)
        }
    }

    /// A chunk took too long: smaller ones may not.
    static let tooSlow = "1363030"
    /// It did not begin where the server wants it: that is no trouble of the server's, and nothing is waited for.
    private static let misplaced = "1363037"

    private mutating func again(after error: RecoveryError, _ random: () -> Double) -> Action {
        guard failures < Self.maximumFailures else {
            var end = error
            end.reason = .attemptsExhausted
            return .fail(end)
        }
        repetition = error.kind
        guard failures > 0, failures > 1 || error.outcome.subcode != Self.misplaced else { return perform() }
        let backoff = Backoff.exponential(base: .seconds(1), jitter: .equal)
        return .pause(backoff.delay(retry: failures - 1, random: random()), reason: .unavailable)
    }

    private mutating func advance(to next: Offsets, of session: String) {
        failures = next.start > furthest ? 0 : failures + 1
        furthest = max(furthest, next.start)
        phase = .transferring(session: session, next)
    }
}

extension RecoveryError {
    /// Whether nobody knows what the server has done.
    var isOfNoAnswer: Bool { [.transport, .timedOut, .unavailable, .unreadable].contains(kind) }
}
