public import AuthRecovery
public import HTTPRecovery
import Locking

/// Keeps a program that would end until a token renewal that is under way has been stored.
///
/// The server has perhaps used up the old refresh token by then, and what it has given out exists nowhere else.
public struct RenewalEnding: Sendable {
    /// How long a renewal that is under way at a deadline may still take: 2 s.
    public static let afterDeadline = Duration.seconds(2)

    private let tokens: TokenManager
    private let terminal: Terminal
    private let time: TimeSource

    /// Creates the ending of a program.
    ///
    /// - Parameters:
    ///   - tokens: Whose renewals are waited for.
    ///   - terminal: Where the person is told.
    ///   - time: The client's time.
    public init(_ tokens: TokenManager, terminal: Terminal, time: TimeSource) {
        self.tokens = tokens
        self.terminal = terminal
        self.time = time
    }

    /// Whether the program has to be kept; to be asked when it would end.
    public var isNeeded: Bool { tokens.isRenewing }

    /// Waits for a renewal that is under way; does nothing if there is none.
    ///
    /// It may take its own timeout, and 2 s past the deadline if there is one. An interruption, before or meanwhile,
    /// does not cut it off: the person is told so. To be called when the results have been told.
    ///
    /// - Parameter deadline: When the program was to be done; nil if nothing bounds it.
    public func settle(deadline: TimeSource.Instant?) async {
        let isInterrupted = Locked(false)
        // Not a child of this task, which may be cancelled.
        let waiting = Task.detached { await wait(deadline: deadline, isInterrupted) }
        await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            isInterrupted.withLock { $0 = true }
            Task.detached {
                guard tokens.isRenewing else { return }
                terminal.tell("Finishing the token renewal; press Ctrl-C again to stop now.")
            }
        }
    }

    private func wait(deadline: TimeSource.Instant?, _ isInterrupted: Locked<Bool>) async {
        guard tokens.isRenewing else { return }
        let left = deadline.map { max(time.now.duration(to: $0), .zero) }
        let timeout = TokenManager.RenewalOptions().timeout
        let limit = left.map { min($0 + Self.afterDeadline, timeout) } ?? timeout
        let notice = Task.detached {
            // If nothing presses, nobody is told of what is over before it has been read.
            if left != .zero { try await time.sleep(for: .seconds(1)) }
            guard !Task.isCancelled, !isInterrupted.withLock({ $0 }) else { return }
            terminal.tell("Finishing the token renewal: at most \(HumanTime.text(limit)).")
        }
        let isOver = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await tokens.finish()
            }
            group.addTask {
                try? await time.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        notice.cancel()
        if !isOver { terminal.tell("The token renewal has not ended in time: perhaps the server has granted it.") }
    }
}
