import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Limits that a server announces are not run into.
@Suite struct AnnouncedLimitTests {
    private static let now = Timestamp(secondsSinceEpoch: 1_700_000_000)

    @Test(arguments: [
        (["RateLimit": #""a";r=5;t=10"#], ["a  5.0 10.0"]),
        (["RateLimit": #""a";r=5;t=10, "b";r=0;t=60"#], ["a  5.0 10.0", "b  0.0 60.0"]),
        (["RateLimit": #""a";r=5;t=10"#, "RateLimit-Policy": #""a";q=100;w=60"#], ["a  5.0 10.0 of 100.0"]),
        // What is no limit on requests, has no end, is malformed or comes from a cache.
        (["RateLimit": #""a";r=5;t=10"#, "RateLimit-Policy": #""a";q=100;w=60;qu="content-bytes""#], []),
        (["RateLimit": #""a";r=5"#], []), (["RateLimit": #"a;r=5;t=10"#], []),
        (["RateLimit": #""a";r=5;t=10"#, "Age": "3"], []),
        (["X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "10", "Age": "3"], []),
        // The older families.
        (["RateLimit-Remaining": "5", "RateLimit-Reset": "10"], ["ratelimit-reset 5.0 10.0"]),
        (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000030"], ["x-ratelimit-reset 0.0 30.0"]),
        (["X-Rate-Limit-Remaining": "7", "X-Rate-Limit-Reset": "1700000030"], ["x-rate-limit-reset 7.0 30.0"]),
        (["X-RateLimit-Remaining": "3", "X-RateLimit-Reset-After": "1.5"], ["x-ratelimit-reset-after 3.0 1.5"]),
        (
            [
                "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1s",
            ], ["x-ratelimit-reset-requests 9.0 360.0"]
        ),
        (["X-RateLimit-Reset": "10"], []), (["X-RateLimit-Remaining": "5"], []),
        (["X-RateLimit-Remaining": "many", "X-RateLimit-Reset": "10"], []),
    ])
    func whatIsAnnounced(fields: [String: String], expected: [String]) {
        let head = TransportResponse.scripted(200, fields).head
        let clock = ServerClock(head.headerFields, receivedAt: Self.now)
        let announced = LimitFamilies(head.headerFields, clock: clock).announced
        #expect(
            announced.map { limit in
                "\(limit.name) \(limit.remaining) \(limit.reset.inSeconds)" + (limit.quota.map { " of \($0)" } ?? "")
            } == expected
        )
    }

    private static func announced(_ remaining: Double, _ seconds: Int) -> [LimitFamilies.Announced] {
        [.init(name: "a", remaining: remaining, reset: .seconds(seconds))]
    }

    @Test func belowAShareAttemptsLeaveEvenly() {
        var limit = AnnouncedLimit()
        limit.note(Self.announced(100, 60), upTo: .longest, at: .zero)
        limit.note(Self.announced(10, 60), upTo: .longest, at: .zero)
        func take(_ now: Double) -> Double {
            limit.take(at: .seconds(now), spacingBelow: 0.1, within: .longest).wait.inSeconds
        }
        #expect(take(0) == 0, "a tenth is enough")
        limit.end()
        limit.note(Self.announced(6, 60), upTo: .longest, at: .zero)
        #expect([take(0), take(0), take(5), take(40)] == [0, 10, 15, 0])
    }

    @Test func ofOneWindowTheLeastCounts() {
        var limit = AnnouncedLimit()
        for (remaining, now, seconds) in [(5, 0, 60), (3, 2, 58), (4, 2, 58), (3, 3, 57)] as [(Double, Int, Int)] {
            limit.note(Self.announced(remaining, seconds), upTo: .longest, at: .seconds(now))
        }
        func free() -> Int {
            (0..<10).count { _ in limit.take(at: .seconds(3), spacingBelow: 0, within: .zero).isTaken }
        }
        #expect(free() == 3)
        // A word about another window is another word.
        limit.note(Self.announced(5, 90), upTo: .longest, at: .seconds(3))
        #expect(free() == 2)
    }

    @Test func whatIsUnderWayIsCounted() {
        var limit = AnnouncedLimit()
        limit.note(Self.announced(3, 60), upTo: .longest, at: .zero)
        func take() -> Duration { limit.take(at: .zero, spacingBelow: 0, within: .longest).wait }
        #expect([take(), take(), take()] == [.zero, .zero, .zero])
        #expect(limit.take(at: .seconds(1), spacingBelow: 0, within: .seconds(58)) == (.seconds(59), false))
        limit.end()
        #expect(take() == .zero)
        // Behind the end there is as much again as there was, of which three are under way.
        #expect(limit.take(at: .seconds(60), spacingBelow: 0, within: .zero) == (.seconds(60), false))
        limit.end()
        #expect(limit.take(at: .seconds(61), spacingBelow: 0, within: .zero) == (.zero, true))
    }

    @Test func aFarEndIsNotHeeded() {
        var limit = AnnouncedLimit()
        limit.note(Self.announced(0, .max), upTo: .seconds(900), at: .zero)
        #expect(limit.take(at: .zero, spacingBelow: 0.1, within: .longest).wait == .seconds(900))
    }

    private static func fields(_ remaining: Int, _ seconds: Int) -> [String: String] {
        ["ratelimit": #""a";r=\#(remaining);t=\#(seconds)"#]
    }

    @Test func aUsedUpLimitIsWaitedForByAllWhoShareTheStore() async throws {
        let (store, clock) = (InMemoryRecoveryStore(), ManualClock())
        let first = Bench([.status(200, Self.fields(0, 30))], clock: clock, store: store) {
            Recovery(admissions: [Recovery.AnnouncedLimits()])
        }
        let second = Bench(clock: clock, store: store) { Recovery() }
        _ = try await first.sendSkippingWaits()
        let start = clock.now
        let answers = try await clock.skippingWaits {
            async let own = first.client.send(Bench.get)
            async let other = second.client.send(Bench.get)
            return try await [own, other]
        }
        #expect(answers.allSatisfy { $0.history.waits.map(\.reason) == [.rateLimited] })
        #expect(start.duration(to: clock.now) >= .seconds(30))
        // Who cannot wait so long fails at once with the time.
        first.transport.append([.status(200, Self.fields(0, 600))])
        _ = try await first.sendSkippingWaits()
        let error = await #expect(throws: RecoveryError.self) { try await first.client.send(Bench.get) }
        #expect(error?.reason == .waitExceedsLimit && error?.outcome.kind == .rateLimited)
    }

    @Test func aServerThatLimitsIsNeverRunInto() async throws {
        // 20 requests in each 10 s: a server that refuses what is more, and a client with 100 calls at a time.
        for share in [0, 0.1, 1] {
            let clock = ManualClock()
            let time = clock.timeSource()
            let server = LimitedServer(time: time, quota: 20, window: .seconds(10))
            let limits = Recovery.AnnouncedLimits(spacingBelow: share)
            let client = RecoveringClient(transport: server, runtime: Runtime(time: time)) {
                Recovery(admissions: [limits])
            }
            try await clock.skippingWaits {
                // The first answer tells the limit.
                _ = try await client.send(Bench.get)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            var request = Bench.get
                            request.path = "/" + String(repeating: "x", count: number)
                            _ = try await client.send(request)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.refused == 0 && server.answered == 101, "\(share)")
        }
    }

    /// Counts by windows of a fixed length, and announces what is left.
    private final class LimitedServer: HTTPTransport {
        private struct State {
            var window = 0
            var used = 0
            var answered = 0
            var refused = 0
        }

        private let time: TimeSource
        private let quota: Int
        private let length: Int
        private let state = Locked(State())
        var name: String { "limited" }
        var enforcesTimeouts: Bool { true }
        var refused: Int { state.withLock { $0.refused } }
        var answered: Int { state.withLock { $0.answered } }

        init(time: TimeSource, quota: Int, window: Duration) {
            self.time = time
            self.quota = quota
            length = Int(window.inSeconds)
        }

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            for _ in 0..<(request.path?.count ?? 0) % 7 { await Task.yield() }
            let now = time.now.sinceStart.inSeconds
            return state.withLock { state in
                let window = Int(now) / length
                if window != state.window { (state.window, state.used) = (window, 0) }
                let reset = length - Int(now) % length
                guard state.used < quota else {
                    state.refused += 1
                    return .scripted(429, ["retry-after": "\(reset)"])
                }
                state.used += 1
                state.answered += 1
                return .scripted(200, ["ratelimit": "\"a\";r=\(quota - state.used);t=\(reset)"])
            }
        }
    }

    @Test func whoIsCancelledLeavesItsPlace() async throws {
        let bench = Bench([.status(200, Self.fields(1, 60)), .hang]) {
            Recovery(admissions: [Recovery.AnnouncedLimits(spacingBelow: 0)])
        }
        _ = try await bench.sendSkippingWaits()
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await bench.client.send(Bench.get).history.waits.isEmpty)
    }

    /// A server that announces a limit now and then counts all the same.
    @Test func answersThatSayNothingCountToo() async throws {
        let admission = Recovery.AnnouncedLimits()
        let bench = Bench([.status(200, ["ratelimit": #""a";r=2;t=60"#])]) { Recovery(admissions: [admission]) }
        var options = RequestOptions()
        options.deadline = .seconds(1)
        var ends: [Bool] = []
        for _ in 0..<5 { ends.append((try? await bench.client.send(Bench.get, options: options)) != nil) }
        #expect(ends == [true, true, true, false, false])
        bench.clock.advance(by: .seconds(60))
        #expect(try await bench.client.send(Bench.get, options: options).status == .ok)
    }
}
