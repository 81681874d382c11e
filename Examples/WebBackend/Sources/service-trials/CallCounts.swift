import HTTPRecovery
import ServiceTrials
import Synchronization

/// What the callers of a service have seen.
final class CallCounts: Sendable {
    struct Counts {
        /// Answered with what was asked for.
        var answered = 0
        /// Told that it cannot be had now.
        var refused: [String: Int] = [:]
        /// Not taken: nobody listened.
        var away = 0
        /// Taken, and never answered.
        var lost: [String: Int] = [:]
    }

    private let counts = Mutex(Counts())

    var now: Counts { counts.withLock { $0 } }

    /// Calls until the task is cancelled, with a pause between two calls.
    func call(_ url: String, every pause: Duration) async {
        let caller = ServiceCaller()
        while !Task.isCancelled {
            do {
                let answer = try await caller.call(url)
                counts.withLock { counts in
                    if answer.status == 200 {
                        counts.answered += 1
                    } else {
                        counts.refused["\(answer.status) \(answer.text.prefix(120))", default: 0] += 1
                    }
                }
            } catch is CancellationError {
                return
            } catch let error as TransportError where error.code == .cannotConnect {
                counts.withLock { $0.away += 1 }
            } catch {
                counts.withLock { $0.lost["\(error)", default: 0] += 1 }
            }
            try? await Task.sleep(for: pause)
        }
    }
}
