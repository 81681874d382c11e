#if ServiceLifecycle
import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Logging
import RecoveryService
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

/// How a service ends, on a manual clock.
@Suite struct LifecycleTests {
    private static let request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/")

    /// What is kept of a client that has ended.
    private final class Kept: Sendable {
        private let states = Locked<[RecoveringClient.LiveState]>([])

        var count: Int { states.withLock { $0.count } }

        func save(_ state: RecoveringClient.LiveState) { states.withLock { $0.append(state) } }
    }

    @Test func aCallUnderWayMayEndAndALaterOneIsRefused() async throws {
        let (clock, kept) = (ManualClock(), Kept())
        let transport = ScriptedTransport([.status(503, ["retry-after": "5"]), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        let service = ClientService(client, drainingWithin: .seconds(20)) { kept.save($0) }
        try await testGracefulShutdown { trigger in
            async let ended: Void = service.run()
            let answer = Task { try await client.send(Self.request) }
            await clock.waitForSleepers(1)
            trigger.triggerGracefulShutdown()
            // The drain's own bound is the second.
            await clock.waitForSleeper(of: .seconds(20), purpose: .guard)
            let late = await #expect(throws: RecoveryError.self) { try await client.send(Self.request) }
            #expect(late?.outcome.transportError?.code == .shutDown)
            #expect(kept.count == 0)
            clock.advance(by: .seconds(12))
            let response = try await answer.value
            #expect(response.status == .ok)
            await ended
        }
        #expect(kept.count == 1 && transport.received.count == 2)
    }

    @Test func whatTakesTooLongIsCutOff() async {
        let (clock, kept) = (ManualClock(), Kept())
        let transport = InProcessTransport { _ in
            let (never, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            end.finish()
            throw CancellationError()
        }
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) { AttemptTimeout.none }
        let service = ClientService(client, drainingWithin: .seconds(20)) { kept.save($0) }
        await testGracefulShutdown { trigger in
            async let ended: Void = service.run()
            let answer = Task { try await client.send(Self.request) }
            while transport.received.isEmpty { await Task.yield() }
            trigger.triggerGracefulShutdown()
            await clock.waitForSleeper(of: .seconds(20), purpose: .guard)
            clock.advance(by: .seconds(20))
            await ended
            let error = await #expect(throws: RecoveryError.self) { try await answer.value }
            #expect(error?.outcome.transportError?.code == .shutDown && error?.outcome.processed == .unknown)
        }
        #expect(kept.count == 1)
    }

    @Test func aWaitThatOutlastsTheDrainSendsNothingMore() async {
        let clock = ManualClock()
        let transport = InProcessTransport { call in .scripted(503, ["retry-after": "50"]) }
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        let service = ClientService(client, drainingWithin: .seconds(5))
        await testGracefulShutdown { trigger in
            async let ended: Void = service.run()
            let answer = Task { try await client.send(Self.request) }
            await clock.waitForSleepers(1)
            trigger.triggerGracefulShutdown()
            await clock.waitForSleeper(of: .seconds(5), purpose: .guard)
            clock.advance(by: .seconds(5))
            await ended
            // Nobody cancels the caller, and nothing holds the end of the service up.
            let error = await #expect(throws: RecoveryError.self) { try await answer.value }
            #expect(error?.reason == .clientShutDown && transport.received.count == 1)
        }
    }

    private struct Worker: Service {
        let client: RecoveringClient
        let isStubborn: Bool
        let ends = Locked<[String]>([])

        func run() async throws {
            do {
                _ = try await client.send(LifecycleTests.request)
                ends.withLock { $0.append("done") }
            } catch {
                ends.withLock { $0.append("\(type(of: error))") }
                if isStubborn { throw error }
            }
        }
    }

    /// A call that waits out a limit does not hold the shutdown up for as long as that lasts.
    @Test(arguments: [false, true]) func whoMakesCallsHasABound(isStubborn: Bool) async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(429, ["retry-after": "45"])])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        let worker = Worker(client: client, isStubborn: isStubborn)
        let service = DrainingService(worker, by: client, within: .seconds(20))
        try await testGracefulShutdown { trigger in
            async let ended: Void = service.run()
            await clock.waitForSleepers(1)
            trigger.triggerGracefulShutdown()
            await clock.waitForSleeper(of: .seconds(20), purpose: .guard)
            clock.advance(by: .seconds(20))
            try await ended
        }
        #expect(worker.ends.withLock { $0 } == ["CancellationError"])
        #expect(transport.received.count == 1)
    }

    @Test func whoEndsInTimeEndsByThemselves() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503, ["retry-after": "5"]), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        let worker = Worker(client: client, isStubborn: true)
        try await testGracefulShutdown { trigger in
            async let ended: Void = DrainingService(worker, by: client).run()
            await clock.waitForSleepers(1)
            trigger.triggerGracefulShutdown()
            await clock.waitForSleeper(of: .seconds(10), purpose: .guard)
            clock.advance(by: .seconds(8))
            try await ended
        }
        #expect(worker.ends.withLock { $0 } == ["done"])
    }

    @Test func whatTheWorkFailsByIsThrown() async throws {
        let transport = ScriptedTransport([.status(404)])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let service = DrainingService(Worker(client: client, isStubborn: true), by: client)
        await #expect(throws: RecoveryError.self) { try await service.run() }
    }

    @Test func aRenewalThatFailsIsNoCallThatWentWell() async throws {
        struct Refusing: TokenRenewer {
            var reuse: RefreshTokenGrant.Reuse { .reusable }
            func canRenew(_ credentials: Credentials) -> Bool { true }
            func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
                throw RecoveryError(outcome: Outcome(.misconfigured, processed: .no), reason: .notRecoverable)
            }
        }
        let clock = ManualClock()
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: .manual(clock))
        let events = EventRecorder(client.runtime.events)
        let expired = Credentials(accessToken: "A", expiresAt: client.runtime.time.wallTime)
        for credentials in [Credentials(), expired] {
            let tokens = TokenManager(store: InMemoryTokenStore(credentials), renewer: Refusing())
            let service = RenewalService(tokens, by: client)
            await testGracefulShutdown { trigger in
                async let ended: Void = service.run()
                await clock.waitForSleeper(of: .seconds(1))
                trigger.triggerGracefulShutdown()
                await ended
            }
        }
        #expect(events.words.contains("refresh failed") && !events.words.contains { $0.hasPrefix("done ok") })
    }

    /// Answers nothing, and counts who waits for that.
    private final class Stuck: TokenRenewer {
        let waiting = Locked(0)
        let reuse = RefreshTokenGrant.Reuse.reusable

        func canRenew(_ credentials: Credentials) -> Bool { true }

        func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
            try await wait()
        }

        func wait() async throws -> Never {
            waiting.withLock { $0 += 1 }
            let (never, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            end.finish()
            throw CancellationError()
        }
    }

    /// They end one after the other, each within its time, and what was learned is kept before the process is killed.
    @Test func theWholeGroupEndsInTime() async throws {
        let (clock, kept, store, stuck) = (ManualClock(), Kept(), NotingStore(), Stuck())
        let transport = InProcessTransport { _ in try await stuck.wait() }
        let client = RecoveringClient(transport: transport, runtime: .manual(clock, store: store)) {
            AttemptTimeout.none
        }
        let expired = Credentials(accessToken: "A", expiresAt: client.runtime.time.wallTime)
        let tokens = TokenManager(store: InMemoryTokenStore(expired), renewer: stuck)
        let group = ServiceGroup(
            services: [
                StoreService(client.runtime.state), ClientService(client) { kept.save($0) },
                RenewalService(tokens, by: client),
                DrainingService(Worker(client: client, isStubborn: false), by: client),
            ],
            gracefulShutdownSignals: [],
            logger: Logger(label: "test")
        )
        let stranger = Task { try await client.send(Self.request) }
        let elapsed = try await clock.skippingWaits {
            async let ended: Void = group.run()
            while stuck.waiting.withLock({ $0 }) < 3 { await Task.yield() }
            let start = clock.now
            await group.triggerGracefulShutdown()
            try await ended
            return start.duration(to: clock.now)
        }
        #expect(elapsed < .seconds(28), "30 seconds is the usual time")
        #expect(kept.count == 1 && store.wasClosed)
        await #expect(throws: RecoveryError.self) { try await stranger.value }
    }

    /// Tokens that cannot be read at first.
    private final class LostTokens: TokenStore {
        let isLost = Locked(true)

        func read() async throws -> Credentials.Stored {
            if isLost.withLock({ $0 }) { throw Credentials.StoreError("the disk is gone") }
            return Credentials.Stored(Credentials(), version: 1)
        }

        func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? { nil }

        func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? { nil }
    }

    @Test func tokensThatCannotBeReadAreToldOfOnce() async {
        let (clock, store) = (ManualClock(), LostTokens())
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: .manual(clock))
        let events = EventRecorder(client.runtime.events)
        let service = RenewalService(TokenManager(store: store), by: client)
        await testGracefulShutdown { trigger in
            async let ended: Void = service.run()
            for isLost in [true, true, false, false] {
                await clock.waitForSleeper(of: .seconds(60))
                store.isLost.withLock { $0 = isLost }
                clock.advance(by: .seconds(60))
            }
            await clock.waitForSleeper(of: .seconds(60))
            trigger.triggerGracefulShutdown()
            await ended
        }
        #expect(events.words == ["store degraded LostTokens", "store available"])
        let reasons = events.events.compactMap { event -> String? in
            if case .store(.degraded(_, let reason)) = event.kind { reason } else { nil }
        }
        #expect(reasons == ["the disk is gone"])
    }

    @Test func aStoreIsClosedBehindItsClients() async {
        let store = NotingStore()
        let state = SharedState(store)
        await testGracefulShutdown { trigger in
            async let ended: Void = StoreService(state).run()
            #expect(!store.wasClosed)
            trigger.triggerGracefulShutdown()
            await ended
        }
        #expect(store.wasClosed)
    }

    @Test func aTokenIsRenewedBeforeItExpiresWithoutACall() async {
        let clock = ManualClock()
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: .manual(clock))
        let renewals = Renewals(client.runtime.time)
        let store = InMemoryTokenStore(renewals.credentials(number: 0))
        let tokens = TokenManager(store: store, renewer: renewals)
        let service = RenewalService(tokens, by: client, lookingEvery: .seconds(3600))
        await testGracefulShutdown { trigger in
            async let ended: Void = service.run()
            await clock.waitForSleepers(1)
            #expect(renewals.number == 0)
            clock.advance(by: .seconds(599))
            while await store.read().credentials.accessToken != "token 1" { await Task.yield() }
            let token = await store.read().credentials.accessToken
            #expect(token?.reveal() == "token 1")
            trigger.triggerGracefulShutdown()
            await ended
        }
    }
}
#endif
