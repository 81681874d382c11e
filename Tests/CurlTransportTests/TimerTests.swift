import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// libcurl's own timers, of which a transfer has several: 200 ms after it began to connect there is one for the next address.
@Suite(.timeLimit(.minutes(30)))
struct TimerTests {
    /// When one of a transfer's timers has come, libcurl 7.88 takes off those that follow within a millisecond, and looks
    /// whether the time of the whole is over: it is not yet, and is asked no more.
    @Test
    func aTimeoutThatFollowsAnotherTimerIsKept() async throws {
        let server = try FaultServer(.stall)
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 300))
        // A call that nobody ends is cancelled at last, and says so.
        let end = TimeSource.Instant(sinceStart: .seconds(60))
        try await TimeSource(clock: ContinuousClock()).withTimeout(until: end) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<64 {
                    group.addTask {
                        var generator = SplitMix64(seed: UInt64(caller))
                        for _ in 0..<30 {
                            let limit = Duration.microseconds(.random(in: 200_000..<204_000, using: &generator))
                            let request = HTTPRequest.to(server.authority)
                            let error = try await transport.failure(request, timeout: limit)
                            #expect(error.code == .timedOut)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await transport.shutdown()
    }
}
