import HTTPRecovery

/// Words in the order in which they came.
final class Log: Sendable {
    private let state = Locked<[String]>([])

    var words: [String] { state.withLock { $0 } }

    func add(_ word: String) {
        state.withLock { $0.append(word) }
    }
}
