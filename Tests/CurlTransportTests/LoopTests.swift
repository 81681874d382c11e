import CurlTransport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What runs on which loop.
@Suite(.timeLimit(.minutes(30)))
struct LoopTests {
    /// Notes the threads that look at it: those of the loops, which look at a send limit before they send.
    private final class ThreadClock: Clock, Sendable {
        typealias Instant = ManualClock.Instant
        let threads = Locked<Set<UInt>>([])

        var now: Instant {
            threads.withLock { _ = $0.insert(UInt(pthread_self())) }
            return Instant(offset: .zero)
        }

        var minimumResolution: Duration { .seconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw CancellationError() }
    }

    /// The chance that one of four loops has none of the hundred origins is one in 10^12.
    @Test
    func originsAreSpreadOverTheLoopsAndStayThere() async throws {
        let server = try FaultServer(.answer())
        var configuration = CurlTransport.Configuration(loops: 4)
        configuration.connectionOverrides = [.init(from: "", to: server.authority)]
        let transport = CurlTransport.patient(configuration)
        var loops: Set<UInt> = []
        for index in 0..<100 {
            let clock = ThreadClock()
            let time = TimeSource(clock: clock)
            // What has looked at it so far is the test.
            clock.threads.withLock { $0 = [] }
            let limit = AttemptOptions.SendLimit(TimeSource.Instant(sinceStart: .seconds(86_400)), time: time)
            for _ in 0..<2 {
                let response = try await transport.send(
                    .to("origin-\(index).example"),
                    body: nil,
                    options: AttemptOptions(sendLimit: limit)
                )
                _ = try await response.body.collect(upTo: 1)
            }
            let threads = clock.threads.withLock { $0 }
            #expect(threads.count == 1)
            loops.formUnion(threads)
        }
        #expect(loops.count == 4)
        #expect(server.receivedRequests.count == 200)
    }
}
