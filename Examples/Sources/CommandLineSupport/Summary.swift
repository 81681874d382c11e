public import HTTPRecovery
import Locking

/// Counts what happened, for a few lines at the end.
public final class Summary: Sendable {
    private struct Counts {
        var ends: [RecoveryEvent.End: Int] = [:]
        var attempts = 0
        var retries = 0
        var waits = 0
        var waited = Duration.zero
        var elapsed: [Duration] = []
        var answers: [String: Int] = [:]
    }

    private let counts = Locked(Counts())

    /// Creates a summary of nothing.
    public init() {}

    /// Counts an event.
    public func note(_ event: RecoveryEvent) {
        counts.withLock { counts in
            switch event.kind {
            case .attempt: counts.attempts += 1
            case .response(_, let status, _): counts.answers["\(status)", default: 0] += 1
            case .failure(_, let outcome):
                guard let error = outcome.transportError else { break }
                counts.answers[error.code.rawValue, default: 0] += 1
            case .retry: counts.retries += 1
            case .wait, .line: counts.waits += 1
            case .done(let end, _, let waited, let elapsed):
                counts.ends[end, default: 0] += 1
                counts.waited = counts.waited.saturatingAdding(waited)
                counts.elapsed.append(elapsed)
            default: break
            }
        }
    }

    /// The lines.
    ///
    /// - Parameter took: The time from the start to the end of the program.
    public func lines(took: Duration) -> [ScreenText] {
        counts.withLock { counts in
            let ends: [RecoveryEvent.End] = [.ok, .failed, .cancelled]
            let ended = ends.compactMap { end in counts.ends[end].map { "\($0) \(end.rawValue)" } }
            let total = counts.ends.values.reduce(0, +)
            var lines = [
                "calls     \(total)" + (ended.isEmpty ? "" : ": \(ended.joined(separator: ", "))"),
                "attempts  \(counts.attempts), of these \(counts.retries) retries",
            ]
            let answers = counts.answers.sorted { $0.key < $1.key }.map { "\($0.key) × \($0.value)" }
            if !answers.isEmpty { lines.append("answers   \(answers.joined(separator: ", "))") }
            lines.append("waited    \(HumanTime.text(counts.waited)) in \(counts.waits) waits")
            let sorted = counts.elapsed.sorted()
            if let last = sorted.last, sorted.count > 1 {
                let middle = Self.milliseconds(sorted[(sorted.count - 1) / 2])
                let high = Self.milliseconds(sorted[(sorted.count * 99 - 1) / 100])
                lines.append("per call  median \(middle) ms, 99 % \(high) ms, longest \(Self.milliseconds(last)) ms")
            }
            lines.append("took      \(HumanTime.text(took))")
            return lines.map { ScreenText($0) }
        }
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int((duration.inSeconds * 1000).rounded())
    }
}
