import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What the clock jumps to while somebody skips waits.
@Suite(.timeLimit(.minutes(30))) struct SkippingWaitsTests {
    /// Answers after a good deal of work that the clock does not see.
    private static let laborious = ScriptedTransport.Step.run { _ in
        for _ in 0..<100 { await Task.yield() }
        return .scripted(200)
    }

    // MARK: Guards

    @Test func aTimeoutIsNotReachedWhileItsWorkIsUnderWay() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"]), Self.laborious], enforcesTimeouts: false) {
            Recovery {
                RateLimitBackoff()
                TransientRetry()
            }
            AttemptTimeout(.seconds(3))
        }
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.transport.received.count == 2)
        #expect(bench.clock.now.offset < .seconds(3), "the wait was skipped, and the guard left alone")
    }

    @Test func aTimeoutIsReachedWhereTheWorkWaitsForIt() async {
        let clock = ManualClock()
        let time = clock.timeSource()
        await #expect(throws: TimeoutExceeded.self) {
            try await clock.skippingWaits {
                try await time.withTimeout(until: time.now.advanced(by: .seconds(60))) { try await hang() }
            }
        }
        #expect(clock.now.offset == .seconds(60))
    }

    @Test func noWaitPassesTheEndOfItsGuard() async {
        let clock = ManualClock()
        let time = clock.timeSource()
        await #expect(throws: TimeoutExceeded.self) {
            try await clock.skippingWaits {
                try await time.withAbandonment(after: .seconds(3)) { try await time.sleep(for: .seconds(10)) }
            }
        }
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func waitsOfWhoeverIsWokenComeBeforeLaterOnes() async throws {
        let clock = ManualClock()
        let time = clock.timeSource()
        let order = Locked<[String]>([])
        try await clock.skippingWaits {
            async let late: Void = {
                try await time.sleep(for: .seconds(10))
                order.withLock { $0.append("late") }
            }()
            for step in 1...3 {
                try await time.sleep(for: .seconds(1))
                order.withLock { $0.append("\(step)") }
            }
            try await late
        }
        #expect(order.withLock { $0 } == ["1", "2", "3", "late"])
        #expect(clock.now.offset == .seconds(10))
    }

    // MARK: Work without an end

    /// How work sleeps for ever.
    enum Endlessness: String, CaseIterable {
        case tinySteps, nothing, heedsOnlyCancellation, elsewhere

        func work(on time: TimeSource) async throws {
            switch self {
            case .tinySteps: while true { try await time.sleep(for: .milliseconds(1)) }
            case .nothing: while true { try await time.sleep(for: .zero) }
            case .heedsOnlyCancellation: while !Task.isCancelled { try? await time.sleep(for: .milliseconds(1)) }
            case .elsewhere:
                // A poll that belongs to nobody goes on beside what never comes.
                Task { while true { try await time.sleep(for: .milliseconds(1)) } }
                try await hang()
            }
        }
    }

    @Test(arguments: Endlessness.allCases)
    func workThatSleepsForEverFailsAndSaysWhatRepeatsItself(_ endlessness: Endlessness) async throws {
        let clock = ManualClock()
        let time = clock.timeSource()
        let error = try #require(
            await #expect(throws: ManualClock.Endless.self) {
                try await clock.skippingWaits(jumps: 2000) { try await endlessness.work(on: time) }
            }
        )
        #expect(error.jumps > 2000 && error.purpose == .wait)
        #expect(error.lastDelay == (endlessness == .nothing ? .zero : .milliseconds(1)))
        #expect("\(error)".contains("\(error.jumps) times") && "\(error)".contains("\(error.lastDelay)"))
        // Nobody goes on unseen.
        await #expect(throws: ManualClock.Endless.self) { try await time.sleep(for: .seconds(1)) }
        #expect(clock.sleepers == 0)
    }

    @Test func workThatStandsStillBesideAHeartbeatFails() async throws {
        let clock = ManualClock()
        let time = clock.timeSource()
        let error = try #require(
            await #expect(throws: ManualClock.Endless.self) {
                try await clock.skippingWaits(jumps: 500) {
                    let heartbeat = Task { while true { try await time.sleep(for: .seconds(3), purpose: .guard) } }
                    defer { heartbeat.cancel() }
                    try await hang()
                }
            }
        )
        #expect(error == ManualClock.Endless(jumps: 11, lastDelay: .seconds(3), purpose: .guard))
    }

    @Test func workThatIsCancelledEndsWithItsOwnError() async {
        let clock = ManualClock()
        let task = Task { try await clock.skippingWaits { try await hang() } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// Never ends but by cancellation.
private func hang() async throws {
    let flight = Flight<Void>()
    try await flight.value
}
