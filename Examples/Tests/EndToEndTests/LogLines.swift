import Locking

/// The lines that a sandbox has logged.
final class LogLines: Sendable {
    private let lines = Locked<[String]>([])

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
    }

    /// The lines but for those that tell what was sent to somebody.
    var withoutCodes: String {
        lines.withLock { $0 }.filter { !$0.hasPrefix("code ") }.joined(separator: "\n")
    }
}
