import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Slowing down before Facebook's limits")
struct FacebookPacingTests {
    private static func usage(_ percent: Int) -> ScriptedTransport.Step {
        .answer("{}", ["x-app-usage": #"{"call_count":\#(percent)}"#])
    }

    private func waits(_ bench: FacebookBench) -> [Double] {
        bench.events.words.compactMap { $0.hasPrefix("wait") ? Double($0.split(separator: " ")[2]) : nil }
    }

    @Test func callsAreSpacedAsTheLimitComesNear() async throws {
        let bench = try FacebookBench([
            Self.usage(50), Self.usage(90), Self.usage(90), Self.usage(99), Self.usage(20), Self.usage(20),
        ])
        for _ in 0..<6 {
            _ = try await bench.skippingWaits { try await bench.facebook.send(path: "me") }
        }
        // The first after each report takes its turn at once; the ones behind it wait.
        let waits = waits(bench)
        #expect(waits.count == 2)
        #expect(waits.allSatisfy { $0 > 0 && $0 <= 5 })
    }

    @Test func callsThatHaveWaitedForAGateAreSpacedToo() async throws {
        let clock = Locked<ManualClock?>(nil)
        let times = Locked<[Double]>([])
        let answer = ScriptedTransport.Step.run { _ in
            times.withLock { $0.append(clock.withLock { $0?.now.offset.inSeconds ?? 0 }) }
            var response = TransportResponse.scripted(200, body: "{}")
            response.head.headerFields[try #require(HTTPField.Name("x-app-usage"))] = #"{"call_count":95}"#
            return response
        }
        let bench = try FacebookBench([Self.usage(100)] + Array(repeating: answer, count: 5))
        clock.withLock { $0 = bench.clock }
        try await bench.skippingWaits {
            _ = try await bench.facebook.send(path: "me")
            try await withThrowingTaskGroup { group in
                for _ in 0..<5 { group.addTask { _ = try await bench.facebook.send(path: "me") } }
                try await group.waitForAll()
            }
        }
        let sent = times.withLock { $0.sorted() }
        #expect(sent.count == 5 && sent[0] >= 60 && sent[4] - sent[0] > 10, "\(sent)")
    }

    /// What was used up before a stated wait says nothing about the time after it; where only our own patience ends, it
    /// does.
    @Test(arguments: [("2", 0), (nil, 2)] as [(String?, Int)])
    func aWaitThatTheServerHasStatedEndsThePauses(retryAfter: String?, pauses: Int) async throws {
        var fields = ["x-app-usage": #"{"call_count":100}"#]
        fields["retry-after"] = retryAfter
        let bench = try FacebookBench([
            Self.usage(95), .error(4, nil, 403, fields), .answer("{}"), .answer("{}"), .answer("{}"),
        ])
        try await bench.skippingWaits {
            for _ in 0..<4 { _ = try await bench.facebook.send(path: "me") }
        }
        let waits = waits(bench)
        #expect(waits.count == 1 + pauses)
        #expect(waits.dropFirst().allSatisfy { $0 > 0 && $0 <= 5 })
        #expect(bench.transport.received.count == 5)
    }

    @Test func anExhaustedLimitClosesTheGateBeforeTheRefusal() async throws {
        let bench = try FacebookBench([Self.usage(100), Self.usage(1)])
        _ = try await bench.facebook.send(path: "me")
        let task = Task { try await bench.facebook.send(path: "other") }
        await bench.clock.waitForSleepers(1)
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(70))
        _ = try await task.value
        #expect(waits(bench).first.map { $0 >= 60 } == true)
    }

    @Test func aBusinessesBlockHoldsItsUseAlone() async throws {
        let fields = [
            "x-business-use-case-usage":
                #"{"9":[{"type":"ads_insights","call_count":100,"estimated_time_to_regain_access":10}]}"#
        ]
        let bench = try FacebookBench([.answer("{}", fields), .answer("{}")])
        _ = try await bench.facebook.send(path: "act_1/insights")
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "act_1/insights") }
        #expect(error?.retryAfter == .seconds(600))
        #expect(error?.reason == .waitExceedsLimit)
        _ = try await bench.facebook.send(path: "act_1/ads")
        #expect(bench.transport.received.count == 2)
    }

    @Test func theCallersOwnBusinessIsTheScope() async throws {
        let bench = try FacebookBench([.error(80_004, nil, 400, ["retry-after": "600"]), .answer("{}")])
        await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(ProviderRequest(path: "c1"), as: .stored, business: "b")
        }
        await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(ProviderRequest(path: "c2"), as: .stored, business: "b")
        }
        #expect(bench.transport.received.count == 1)
        _ = try await bench.facebook.send(ProviderRequest(path: "c1"), as: .stored, business: "other")
    }

    @Test func aTurnBehindTheDeadlineIsNotWaitedFor() async throws {
        let bench = try FacebookBench([Self.usage(99), Self.usage(99), Self.usage(99)]) {
            Deadline(.seconds(1))
            Recovery()
        }
        _ = try await bench.facebook.send(path: "me")
        _ = try await bench.facebook.send(path: "me")
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.reason == .deadlineWouldPass)
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    @Test func whatWasSeenLongAgoSlowsNobodyDown() async throws {
        let bench = try FacebookBench([Self.usage(95), Self.usage(95), .answer("{}"), .answer("{}")])
        _ = try await bench.facebook.send(path: "me")
        _ = try await bench.facebook.send(path: "me")
        bench.clock.advance(by: .seconds(600))
        _ = try await bench.facebook.send(path: "me")
        _ = try await bench.facebook.send(path: "me")
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    /// A call that does not go out takes no turn: those behind it that fit go out at the pauses' rate.
    @Test func callsThatDoNotFitDelayNobodyElse() async throws {
        let bench = try FacebookBench((0..<40).map { _ in Self.usage(90) }) {
            Deadline(.seconds(1))
            Recovery()
        }
        var sent = 0
        let time = bench.clock.timeSource()
        let start = time.now
        // Two calls a second, for a minute, where one in 2.5 s may leave.
        for _ in 0..<120 {
            do {
                _ = try await bench.skippingWaits { try await bench.facebook.send(path: "me") }
                sent += 1
            } catch let error as RecoveryError {
                #expect(error.reason == .deadlineWouldPass)
                #expect(error.retryAfter.map { $0 <= .milliseconds(2500) } == true)
            }
            bench.clock.advance(by: .milliseconds(500))
        }
        // The first two have no report behind them, or none in front.
        let turns = start.duration(to: time.now).inSeconds / 2.5
        #expect(Double(sent) >= turns - 1 && Double(sent) <= turns + 2)
    }

    @Test(.timeLimit(.minutes(30)))
    func aCancelledCallGivesItsTurnBack() async throws {
        let bench = try FacebookBench((0..<9).map { _ in Self.usage(90) })
        _ = try await bench.facebook.send(path: "me")
        _ = try await bench.facebook.send(path: "me")
        let facebook = bench.facebook
        let waiting = (0..<20).map { _ in Task { try await facebook.send(path: "me") } }
        await bench.clock.waitForSleepers(20)
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
        let before = bench.clock.requestedDelays.count
        _ = try await bench.skippingWaits { try await facebook.send(path: "me") }
        #expect(bench.clock.requestedDelays.dropFirst(before).allSatisfy { $0 <= .milliseconds(2500) })
        #expect(bench.transport.received.count == 3)
    }

    /// A long pause is told, not slept.
    @Test func aTurnBeyondTheLongestWaitIsNotWaitedFor() async throws {
        let bench = try FacebookBench((0..<4).map { _ in Self.usage(90) }) { Recovery(maxWait: .seconds(2)) }
        _ = try await bench.facebook.send(path: "me")
        _ = try await bench.facebook.send(path: "me")
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.send(path: "me") }
        }
        #expect(error?.kind == .rateLimited)
        #expect(error?.reason == .waitExceedsLimit)
        #expect(error?.retryAfter == .milliseconds(2500))
        #expect(bench.clock.requestedDelays.isEmpty)
        bench.clock.advance(by: .milliseconds(2500))
        _ = try await bench.facebook.send(path: "me")
        #expect(bench.transport.received.count == 3)

        // Without an engine nobody asks it.
        let configuration = FacebookConfiguration(pacing: FacebookPacing.Configuration(longestPause: .seconds(600)))
        let bare = try FacebookBench((0..<4).map { _ in Self.usage(90) }, configuration: configuration) {
            Deadline(.seconds(3600))
        }
        _ = try await bare.facebook.send(path: "me")
        _ = try await bare.facebook.send(path: "me")
        _ = try await bare.facebook.send(path: "me")
        #expect(bare.clock.requestedDelays.isEmpty)
    }
}
