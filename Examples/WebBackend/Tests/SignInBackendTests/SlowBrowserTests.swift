import AuthSandbox
import Foundation
import ServiceTrials
import Testing

/// Browsers that begin a request and do not go on with it.
@Suite(.timeLimit(.minutes(5)))
struct SlowBrowserTests {
    private let directory: TemporaryDirectory
    private let sandbox: AuthSandbox
    private let backend: RunningService

    init() async throws {
        directory = try TemporaryDirectory()
        sandbox = try await AuthSandbox.start(scenario: .unlimited)
        backend = try await .signInBackend(before: sandbox.url, state: "\(directory.path)/state.sqlite")
    }

    @Test func theyKeepNoInstanceFromEnding() async throws {
        var callers: [RunningService] = []
        for beginning in RunningService.halfRequests {
            callers.append(try await backend.slowCaller(sending: beginning))
        }
        // Until they are among those that the server knows of.
        try await Task.sleep(for: .milliseconds(500))
        let start = ContinuousClock.now
        backend.send(SIGTERM)
        #expect(await backend.exit() == 0)
        #expect(ContinuousClock.now - start < .seconds(27))
        for caller in callers { _ = await caller.exit() }
        sandbox.stop()
    }

    @Test(arguments: RunningService.halfRequests)
    func theyAreNotWaitedForWithoutEnd(_ beginning: String) async throws {
        let start = ContinuousClock.now
        let caller = try await backend.slowCaller(sending: beginning)
        _ = await caller.exit()
        #expect(ContinuousClock.now - start < .seconds(50))
        sandbox.stop()
    }
}
