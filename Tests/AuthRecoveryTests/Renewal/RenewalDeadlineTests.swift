import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A call's deadline holds while its token is renewed, and what the person reads says so.
@Suite(.timeLimit(.minutes(30))) struct RenewalDeadlineTests {
    private static func expired(_ clock: ManualClock) -> Credentials {
        var credentials = RotatingServer.first
        credentials.expiresAt = clock.timeSource().wallTime
        return credentials
    }

    /// Whether the sentence for the person tells of the time, and nothing of a session's end or a server's failure.
    private func tellsOfTheTime(_ error: RecoveryError) -> Bool {
        error.userMessage.contains("time ran out") && error.userMessage.contains("renewed")
    }

    @Test func theDeadlineIsKeptWhileAnExpiredTokenIsRenewedBeforeSending() async throws {
        let (latch, clock) = (Latch(), ManualClock())
        let bench = RenewalBench(
            [.held(latch)],
            credentials: Self.expired(clock),
            clock: clock,
            deadline: .seconds(1)
        )
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        // The deadline, the lease's heartbeat and the renewal's own timeout.
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(1))
        let error = try #require(await #expect(throws: RecoveryError.self) { try await call.value })
        #expect(error.reason == .deadlinePassed)
        #expect(error.kind == .timedOut && error.outcome.processed == .no)
        #expect(error.cause is FailureContext.RemediationUnfinished)
        #expect(tellsOfTheTime(error), "\(error.userMessage)")
        #expect(bench.transport.received.isEmpty)
        // The renewal belongs to no caller: it goes on, and its token is stored.
        #expect(bench.tokens.isRenewing)
        await latch.open()
        #expect(await bench.tokens.finish())
        #expect(!bench.tokens.isRenewing)
        #expect(try await bench.credentials.accessToken == "access-2")
    }

    @Test func noRenewalIsBegunForWhichNoTimeIsLeft() async throws {
        let clock = ManualClock()
        let bench = RenewalBench(credentials: Self.expired(clock), clock: clock, deadline: .zero)
        let error = try #require(await #expect(throws: RecoveryError.self) { try await bench.send() })
        #expect(error.reason == .deadlinePassed)
        await bench.tokens.finish()
        #expect(bench.server.presented.isEmpty)
        #expect(try await bench.credentials.accessToken == "access-1")
    }

    @Test func aDeadlineThatPassesWhileARefusedTokenIsRenewedIsNoEndOfTheSession() async throws {
        let (latch, clock) = (Latch(), ManualClock())
        let bench = RenewalBench([.held(latch)], clock: clock, deadline: .seconds(1))
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(1))
        let error = try #require(await #expect(throws: RecoveryError.self) { try await call.value })
        #expect(error.reason == .deadlinePassed)
        #expect(error.outcome.status == 401)
        #expect(tellsOfTheTime(error), "\(error.userMessage)")
        await latch.open()
        await bench.tokens.finish()
    }

    @Test func aRenewalThatAProgramAsksForKeepsItsDeadline() async throws {
        let (latch, clock) = (Latch(), ManualClock())
        let bench = RenewalBench([.held(latch)], clock: clock)
        var context = CallContext(runtime: Runtime(time: bench.time))
        context.deadline = bench.time.now.advanced(by: .seconds(1))
        let call = Task { [context] in try await bench.tokens.renew(context) }
        while bench.server.presented.isEmpty { await Task.yield() }
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(1))
        let error = try #require(await #expect(throws: RecoveryError.self) { try await call.value })
        #expect(error.reason == .deadlinePassed)
        #expect(tellsOfTheTime(error), "\(error.userMessage)")
        await latch.open()
        await bench.tokens.finish()
    }

    @Test func theDeadlineIsKeptWhileABoundTokenIsRenewedBeforeSending() async throws {
        let (latch, clock) = (Latch(), ManualClock())
        let time = clock.timeSource()
        var credentials = Self.expired(clock)
        credentials.tokenType = "DPoP"
        let server = RotatingServer([.held(latch)], time: time)
        let tokens = TokenManager(
            store: InMemoryTokenStore(credentials),
            renewer: server,
            options: RenewalBench.patient
        )
        let transport = ScriptedTransport()
        let client = RecoveringClient(transport: transport, runtime: Runtime(time: time)) {
            Deadline(.seconds(1))
            Recovery {
                DPoPAuthorization.NonceRetry()
                SessionRenewal(tokens)
            }
            DPoPAuthorization(tokens, prover: PlainProver(), audience: [Bench.origin])
        }
        let call = Task { try await client.send(Bench.get) }
        while server.presented.isEmpty { await Task.yield() }
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(1))
        let error = try #require(await #expect(throws: RecoveryError.self) { try await call.value })
        #expect(error.reason == .deadlinePassed)
        #expect(tellsOfTheTime(error), "\(error.userMessage)")
        #expect(transport.received.isEmpty)
        await latch.open()
        await tokens.finish()
    }

    @Test func aWaitAfterAFailedRenewalThatWouldPassTheDeadlineIsNoEndOfTheSession() async throws {
        var refused = Outcome(.credentialRejected, processed: .no, remedies: [.retry])
        refused.credential = .refresh
        let bench = RenewalBench(
            [.refuse(refused)],
            options: TokenManager.RenewalOptions(
                timeout: .seconds(2000),
                lease: .seconds(1000),
                cooldown: .seconds(30)
            ),
            deadline: .seconds(1)
        )
        bench.server.expireAccess()
        _ = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        let error = try #require(await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() })
        #expect(error.reason == .deadlineWouldPass)
        #expect(tellsOfTheTime(error), "\(error.userMessage)")
    }
}
