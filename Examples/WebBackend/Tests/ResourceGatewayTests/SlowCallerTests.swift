import AuthSandbox
import ServiceTrials
import Testing

/// Callers that begin a request and do not go on with it.
@Suite(.timeLimit(.minutes(5))) struct SlowCallerTests {
    @Test(arguments: RunningService.halfRequests)
    func theyAreNotWaitedForWithoutEnd(_ beginning: String) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox)
        let start = ContinuousClock.now
        let caller = try await gateway.slowCaller(sending: beginning)
        _ = await caller.exit()
        #expect(ContinuousClock.now - start < .seconds(50))
    }
}
