import Glibc
import Testing

@testable import HTTPRecovery

@Suite(.timeLimit(.minutes(30))) struct ProcessEndTests {
    private static let isAtWork = Locked(false)
    private static let mustStandStill = Locked(false)
    private static let standsStill = Locked(false)

    private static func begin(_ body: @escaping @Sendable () -> Void) async {
        guard SystemThread.run(body) else { _exit(EXIT_FAILURE) }
    }

    @Test func aThreadStandsStillBeforeWhatItUsesIsTakenAway() async {
        await #expect(processExitsWith: .success) {
            // What was left for the end first comes last.
            atexit { _exit(Self.standsStill.withLock(\.self) ? EXIT_SUCCESS : EXIT_FAILURE) }
            ProcessEnd.comesBeforeThatOfLibraries()
            await Self.begin {
                let thread = ProcessEnd.enter { Self.mustStandStill.withLock { $0 = true } }
                Self.isAtWork.withLock { $0 = true }
                while !Self.mustStandStill.withLock(\.self) { sched_yield() }
                Self.standsStill.withLock { $0 = true }
                ProcessEnd.standStill(thread)
            }
            while !Self.isAtWork.withLock(\.self) { await Task.yield() }
            exit(EXIT_FAILURE)
        }
    }

    @Test func aThreadThatEndsTheProcessIsNotTold() async {
        await #expect(processExitsWith: .success) {
            ProcessEnd.comesBeforeThatOfLibraries()
            await Self.begin {
                _ = ProcessEnd.enter { _exit(EXIT_FAILURE) }
                exit(EXIT_SUCCESS)
            }
            while true { await Task.yield() }
        }
    }

    @Test func whoHasLeftIsNotTold() async {
        await #expect(processExitsWith: .success) {
            ProcessEnd.comesBeforeThatOfLibraries()
            await Self.begin {
                ProcessEnd.leave(ProcessEnd.enter { _exit(EXIT_FAILURE) })
                Self.isAtWork.withLock { $0 = true }
            }
            while !Self.isAtWork.withLock(\.self) { await Task.yield() }
            exit(EXIT_SUCCESS)
        }
    }
}
