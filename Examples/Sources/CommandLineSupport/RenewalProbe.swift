import AuthRecovery
import HTTPRecovery
import Locking

/// Tells whether a token renewal is under way, by what its manager lets be waited for.
final class RenewalProbe: Sendable {
    private enum State {
        case unknown
        case asked
        case over
    }

    private let tokens: TokenManager
    private let state = Locked(State.unknown)

    init(_ tokens: TokenManager) {
        self.tokens = tokens
    }

    /// Whether a renewal is under way; true, too, for the moment that it takes to know.
    var isRenewing: Bool {
        let (isOver, isFirst) = state.withLock { state in
            defer { state = state == .over ? .unknown : .asked }
            return (state == .over, state == .unknown)
        }
        if isFirst {
            Task.detached { [self] in
                await tokens.finish()
                state.withLock { $0 = .over }
            }
        }
        return !isOver
    }

    /// The same, with that moment waited for.
    func isStillRenewing(_ time: TimeSource) async -> Bool {
        for _ in 0..<20 {
            if !isRenewing { return false }
            try? await time.sleep(for: .milliseconds(10))
        }
        return true
    }
}
