import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct RenewalConcurrencyTests {
    @Test(arguments: 0..<20)
    func twoHundredCallsWithAnExpiredTokenCauseOneRenewal(run: Int) async throws {
        var credentials = RotatingServer.first
        // Half of the runs learn of the expiry from the clock, half from the refusals.
        let clock = ManualClock()
        if run.isMultiple(of: 2) { credentials.expiresAt = clock.timeSource().wallTime }
        let bench = RenewalBench(credentials: credentials, clock: clock)
        bench.server.expireAccess()
        let statuses = try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<200 { group.addTask { try await bench.send() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count == 200)
        #expect(statuses.allSatisfy { $0 == .ok })
        #expect(bench.server.presented == ["refresh-1"])
        #expect(bench.words.filter { $0 == "refresh refreshed" }.count == 1)
        #expect(!bench.words.contains("clear access"))
    }

    @Test func theCallThatBeganItMayBeCancelled() async throws {
        let latch = Latch()
        let bench = RenewalBench([.held(latch)])
        bench.server.expireAccess()
        let first = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        let second = Task { try await bench.send() }
        await bench.transport.waitForRequests(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await latch.open()
        #expect(try await second.value == .ok)
        #expect(bench.server.presented.count == 1)
        #expect(try await bench.credentials.accessToken == "access-3")
    }

    @Test func aWaiterMayBeCancelledByItself() async throws {
        let latch = Latch()
        let bench = RenewalBench([.held(latch)])
        bench.server.expireAccess()
        let first = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        let second = Task { try await bench.send() }
        await bench.transport.waitForRequests(2)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        await latch.open()
        #expect(try await first.value == .ok)
    }

    @Test func aDeadlineEndsTheWaitAndNotTheRenewal() async throws {
        let latch = Latch()
        let bench = RenewalBench([.held(latch)], deadline: .seconds(5))
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        // The call's deadline, the renewal's heartbeat and its timeout.
        await bench.clock.waitForSleepers(3)
        bench.clock.advance(by: .seconds(5))
        let error = await #expect(throws: RecoveryError.self) { try await call.value }
        #expect(error?.reason == .deadlinePassed)
        await latch.open()
        await bench.tokens.finish()
        #expect(try await bench.credentials.accessToken == "access-3", "the next call finds the token renewed")
    }

    @Test func allWhoWaitedForAFailureAreToldOfIt() async throws {
        let failure = Outcome(.unavailable, processed: .unknown, remedies: [], status: 500)
        let bench = RenewalBench([.refuse(failure)])
        bench.server.expireAccess()
        let outcomes = await withTaskGroup(of: Outcome.Kind?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do {
                        _ = try await bench.sendSkipping()
                        return nil
                    } catch {
                        return (error as? RecoveryError)?.kind
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // Whoever came later waited for the pause and succeeded.
        #expect(outcomes.contains(.unavailable))
        #expect(outcomes.allSatisfy { $0 == nil || $0 == .unavailable })
        #expect(bench.server.presented.count <= 2)
    }

    @Test func finishWaitsForTheRenewalThatIsUnderWay() async throws {
        let latch = Latch()
        let bench = RenewalBench([.held(latch)])
        await bench.tokens.finish()
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        let finish = Task { await bench.tokens.finish() }
        call.cancel()
        await latch.open()
        #expect(await finish.value)
        #expect(try await bench.credentials.accessToken == "access-3")
    }

    @Test func theEndOfTheClientWaitsForARenewalThatNobodyAwaits() async throws {
        let latch = Latch()
        let bench = RenewalBench([.held(latch)])
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        let drained = Task {
            let isIdle = await bench.client.drain(within: .seconds(60))
            return (isIdle, try await bench.credentials.accessToken)
        }
        // The renewal's heartbeat, its timeout, and the end of the client.
        await bench.clock.waitForSleepers(3)
        await latch.open()
        let (isIdle, token) = try await drained.value
        #expect(isIdle && token == "access-3", "what it brings is stored before the client ends")
    }

    @Test func theServersClockCounts() async throws {
        // The server is an hour ahead: a token that our clock takes for fresh has expired there.
        let bench = RenewalBench(expiresIn: .seconds(600))
        try await bench.store.update { $0.expiresAt = bench.time.wallTime.advanced(by: .seconds(1800)) }
        var head = HTTPResponse(status: .ok)
        head.headerFields[.date] = "Tue, 01 Jan 2030 01:00:00 GMT"
        bench.tokens.note(head, context: CallContext(runtime: bench.client.runtime))
        #expect(try await bench.send() == .ok)
        #expect(bench.transport.received.count == 1)
        #expect(bench.server.presented.count == 1, "renewed before it was sent")
    }
}
