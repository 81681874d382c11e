import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P3TheServersWordIsKept {
    @Test func noTaskSendsBeforeRetryAfterHasPassed() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"])])
        async let first = bench.client.send(Bench.get)
        await bench.clock.waitForSleepers(1)
        async let second = bench.client.send(Bench.get)
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .milliseconds(1999))
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(2))
        #expect(try await first.status == .ok)
        #expect(try await second.status == .ok)
    }

    @Test func thoseHeldLeaveSpreadOutAndNeverEarly() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"])])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await bench.client.send(Bench.get) }
            await bench.clock.waitForSleepers(1)
            for _ in 1..<100 { group.addTask { _ = try await bench.client.send(Bench.get) } }
            await bench.clock.waitForSleepers(100)
            let delays = bench.clock.requestedDelays.sorted()
            #expect(delays.allSatisfy { $0 >= .seconds(2) })
            #expect(delays[99] - delays[0] >= .milliseconds(400))
            // No tenth of a second sees a quarter of them.
            for start in delays {
                #expect(delays.count { $0 >= start && $0 < start + .milliseconds(50) } < 25)
            }
            #expect(bench.transport.received.count == 1)
            bench.clock.advance(by: .seconds(10))
            try await group.waitForAll()
        }
        #expect(bench.transport.received.count == 101)
    }

    @Test func aSecondRefusalHoldsThoseThatStillWait() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"]), .status(429, ["retry-after": "30"])])
        async let first = bench.client.send(Bench.get)
        await bench.clock.waitForSleepers(1)
        async let second = bench.client.send(Bench.get)
        await bench.clock.waitForSleepers(2)
        // Only the first to leave learns of the new limit; the other looks again when it wakes, and waits on.
        await bench.clock.advanceToNextDeadline()
        await bench.transport.waitForRequests(2)
        await bench.clock.waitForSleepers(2)
        await bench.clock.advanceToNextDeadline(afterSleepers: 2)
        await bench.clock.waitForSleepers(2)
        #expect(bench.transport.received.count == 2)
        bench.clock.advance(by: .seconds(40))
        _ = try await (first, second)
        #expect(bench.transport.received.count == 4)
    }

    @Test func withoutAPolicyNobodySendsEarlyEither() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"])]) { Recovery {} }
        for _ in 1...3 {
            let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
            #expect(error?.kind == .rateLimited)
        }
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(2))
        #expect(try await bench.client.send(Bench.get).status == .ok)
    }

    @Test func anotherOriginAndAnotherCredentialAreNotHeld() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"])]) { Recovery {} }
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        var elsewhere = Bench.get
        elsewhere.authority = "other.example.com"
        #expect(try await bench.client.send(elsewhere).status == .ok)
        var asSomebodyElse = Bench.get
        asSomebodyElse.headerFields[.authorization] = "Bearer b"
        #expect(try await bench.client.send(asSomebodyElse).status == .ok)
    }

    @Test(arguments: [TransportError.Code.connectionLost, .timedOut])
    func aRefusalWhoseBodyBreaksOffCountsAllTheSame(code: TransportError.Code) async throws {
        let bench = Bench([
            .run { _ in
                let broken = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                    continuation.yield([0x61][...])
                    continuation.finish(throwing: TransportError(code, .answered))
                }
                var response = TransportResponse.scripted(429, ["retry-after": "2"])
                response.body = MessageBody(once: broken)
                return response
            }
        ])
        async let first = bench.client.send(Bench.post)
        await bench.clock.waitForSleepers(1)
        #expect(bench.clock.requestedDelays.allSatisfy { $0 >= .seconds(2) })
        bench.clock.advance(by: .seconds(3))
        #expect(try await first.status == .ok)
        #expect(bench.events.words.contains("failure 1 rate_limited"))
    }

    @Test func atOnceFromAServerThatHasJustRefusedMeansSoon() async throws {
        let bench = Bench([.status(429, ["retry-after": "0"])])
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.clock.requestedDelays.allSatisfy { $0 >= .milliseconds(500) })
        #expect(bench.clock.requestedDelays.count == 1)
    }

    @Test func aWaitOfHoursIsWaitedForOnlyWhereTheLongestWaitAllowsIt() async throws {
        let patient = Bench([.status(429, ["retry-after": "7200"])]) { Recovery(maxWait: .seconds(9000)) }
        #expect(try await patient.sendSkippingWaits().status == .ok)
        #expect(patient.clock.requestedDelays.allSatisfy { $0 >= .seconds(7200) })
        let usual = Bench([.status(429, ["retry-after": "7200"])])
        let error = await #expect(throws: RecoveryError.self) { try await usual.client.send(Bench.get) }
        #expect(error?.kind == .quotaExhausted)
        #expect(error?.reason == .waitExceedsLimit)
    }

    @Test(arguments: [(30, true), (31, false)]) func aWaitMayBeAsLongAsTheLongest(seconds: Int, isWaitedFor: Bool)
        async throws
    {
        let bench = Bench([.status(429, ["retry-after": "\(seconds)"])]) { Recovery(maxWait: .seconds(30)) }
        let response = try? await bench.sendSkippingWaits()
        #expect((response?.status == .ok) == isWaitedFor)
    }

    /// It is no time after which the refused request is taken, so nobody else is held to it.
    @Test func aTimeThatComesWithARefusalForGoodHoldsNobody() async throws {
        let bench = Bench([.status(400, ["retry-after": "60"]), .status(200)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.retryAfter == .seconds(60))
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.clock.now.offset == .zero && bench.transport.received.count == 2)
    }
}
