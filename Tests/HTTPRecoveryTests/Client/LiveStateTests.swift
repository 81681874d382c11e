import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// What a client has learned goes on in another.
@Suite struct LiveStateTests {
    /// A process with all that can know something.
    private struct Process {
        let bench: Bench
        let breaker = Recovery.CircuitBreaker(.init(window: .count(10), failureRatio: 0.5, minimumCalls: 4))
        let pacing = Recovery.Pacing(perSecond: 0.1, burst: 4)
        let adaptive = Recovery.AdaptiveRate()
        let limit = Recovery.ConcurrencyLimit(.aimd(initial: 20, min: 5, max: 200))
        let announced = Recovery.AnnouncedLimits()
        let published = Recovery.PublishedLimits { _, _ in ("all", .init(6, per: .seconds(600))) }
        let recovery: Recovery

        init(
            _ clock: ManualClock = ManualClock(),
            budget: RetryBudget.Model = .ratio(),
            only kept: [Int]? = nil,
            seed: UInt64 = 1
        ) {
            let all: [any Admission] = [breaker, pacing, adaptive, limit, announced, published]
            let recovery = Recovery(
                maxAttempts: 2,
                budget: budget,
                admissions: (kept ?? Array(all.indices)).map { all[$0] }
            )
            self.recovery = recovery
            bench = Bench(then: .status(200), seed: seed, clock: clock) { recovery }
        }

        /// What a call comes to, without waiting for it.
        func call(_ step: ScriptedTransport.Step? = nil, waitsFor limit: Duration = .seconds(3600)) async -> String {
            if let step { bench.transport.append([step]) }
            var options = RequestOptions()
            options.deadline = limit
            let start = bench.clock.now
            do {
                let response = try await bench.sendSkippingWaits(options: options)
                return "\(response.status.code) \(start.duration(to: bench.clock.now))"
            } catch let error as RecoveryError {
                return "\(error.reason) \(error.retryAfter?.inSeconds ?? 0)"
            } catch {
                return "\(error)"
            }
        }

        /// The state by way of its text.
        func exported() throws -> RecoveringClient.LiveState {
            let text = bench.client.liveState().json.description
            return try #require(RecoveringClient.LiveState(json: try JSONValue(parsing: text)))
        }
    }

    @Test func anOpenBreakerStaysOpenForAsLong() async throws {
        let old = Process(only: [0])
        for _ in 1...2 { _ = await old.call(.status(500)) }
        #expect(old.breaker.state(for: PlannedAttempt(Bench.get)) == .open)
        old.bench.clock.advance(by: .seconds(3))
        let new = Process(ManualClock(), only: [0])
        let state = try old.exported()
        for _ in 1...2 { #expect(await new.bench.client.restore(state) == []) }
        let refusal = await new.call()
        #expect(refusal.hasPrefix("breaker_open"))
        #expect(refusal == (await old.call()))
        new.bench.clock.advance(by: .seconds(8))
        #expect(await new.call() == "200 0.0 seconds")
    }

    /// A state that somebody has written.
    private static func state(_ admissions: String, gates: String = "[]") throws -> RecoveringClient.LiveState {
        let text = #"{"version":1,"at":1893456000,"admissions":\#(admissions),"gates":\#(gates)}"#
        return try #require(RecoveringClient.LiveState(json: try JSONValue(parsing: text)))
    }

    @Test(arguments: [#"{"breaks":0}"#, #"{"breaks":0,"results":[[0,1,2,3]]}"#, #"{"results":[]}"#, "7"])
    func whatCannotBeReadLeavesABreakerAsItIs(known: String) async throws {
        let process = Process(only: [0])
        for _ in 1...2 { _ = await process.call(.status(500)) }
        let state = try Self.state(#"{"CircuitBreaker":{"origins":{"https://api.example.com":\#(known)}}}"#)
        #expect(await process.bench.client.restore(state) == ["CircuitBreaker"])
        #expect(process.breaker.state(for: PlannedAttempt(Bench.get)) == .open)
    }

    @Test(arguments: [
        #"{"Pacing":{"https://api.example.com":-1000000000}}"#,
        #"{"PublishedLimits":{"https://api.example.com all":[1e9,1e9,1e9,1e9,1e9,1e9]}}"#,
        #"{"CircuitBreaker":{"origins":{"https://api.example.com":{"breaks":1,"left_s":1e15}}}}"#,
    ])
    func nobodyIsShutOutForLong(admissions: String) async throws {
        let process = Process(only: [0, 1, 5])
        #expect(await process.bench.client.restore(try Self.state(admissions)) == [])
        let hour = Duration.seconds(3600)
        process.bench.clock.advance(by: hour)
        #expect(await process.call(waitsFor: hour) == "200 0.0 seconds")
    }

    @Test func aGateOpensNoEarlierThanItWould() async throws {
        let old = Bench([.status(429, ["retry-after": "60"])]) { Recovery(maxAttempts: 1) }
        _ = try? await old.client.send(Bench.get)
        old.clock.advance(by: .microseconds(1_234_567))
        let json = old.client.liveState().json
        #expect(json["gates"]?[0]?["left_s"]?.number?.double == 58.766)
        #expect(json["version"]?.number?.double == 1)
    }

    @Test func whatAClosedBreakerHasSeenCounts() async throws {
        let old = Process(only: [0])
        for status in [200, 200, 500] {
            var options = RequestOptions()
            options.policies = [Surrender()]
            old.bench.transport.append([.status(status)])
            _ = try? await old.bench.client.send(Bench.get, options: options)
        }
        let new = Process(old.bench.clock, only: [0])
        #expect(await new.bench.client.restore(try old.exported()) == [])
        for process in [old, new] {
            _ = await process.call(.status(500))
            #expect(process.breaker.state(for: PlannedAttempt(Bench.get)) == .open)
        }
        #expect(Process(old.bench.clock).breaker.state(for: PlannedAttempt(Bench.get)) == .closed)
    }

    /// Lets every failure stand.
    private struct Surrender: RecoveryPolicy {
        func decide(_ situation: FailureContext) -> FailureContext.Decision { .giveUp(.notRecoverable) }
    }

    @Test(arguments: [
        RetryBudget.Model.ratio(.init(ratio: 0, burst: 3)), .tokens(capacity: 50), .throttle(maxTokens: 10),
        .rate(minPerSecond: 0, percent: 1000),
    ])
    func aBudgetHoldsWhatItHeld(model: RetryBudget.Model) async throws {
        let old = Process(budget: model, only: [])
        for _ in 1...2 { _ = await old.call(.status(503)) }
        old.bench.transport.append([.status(503), .status(503)])
        _ = await old.call()
        let new = Process(old.bench.clock, budget: model, only: [])
        #expect(await new.bench.client.restore(try old.exported()) == [])
        func left(_ process: Process) -> Double {
            process.recovery.budgetLeft(for: Bench.get, at: process.bench.client.runtime.time.now)
        }
        #expect(left(new) == left(old) && left(new) != left(Process(budget: model, only: [])))
        // Another model's numbers mean nothing.
        let other = Process(budget: .inFlight(), only: [])
        #expect(await other.bench.client.restore(try old.exported()) == ["RetryBudgets"])
    }

    @Test func ratesAndLimitsGoOn() async throws {
        let old = Process(only: [1, 2, 3, 4, 5])
        let fields = ["ratelimit": #""a";r=3;t=400"#]
        for _ in 1...3 { _ = await old.call(.status(200, fields)) }
        _ = await old.call(.status(429, ["retry-after": "1"]))
        old.bench.clock.advance(by: .seconds(2))
        let state = try old.exported()
        let new = Process(ManualClock(), only: [1, 2, 3, 4, 5])
        #expect(await new.bench.client.restore(state) == [])
        let attempt = PlannedAttempt(Bench.get)
        #expect(new.limit.load(of: attempt).limit == old.limit.load(of: attempt).limit)
        #expect(
            new.adaptive.rate(for: attempt) == old.adaptive.rate(for: attempt) && new.adaptive.rate(for: attempt) != nil
        )
        for _ in 1...6 {
            let (ours, theirs) = (await new.call(), await old.call())
            #expect(ours.prefix(8) == theirs.prefix(8), "\(ours), \(theirs)")
        }
    }

    @Test func gatesAndLockoutsGoOn() async throws {
        let old = Bench([.status(429, ["retry-after": "60"])], classifier: LockoutClassifier(remedies: [.unlock])) {
            Recovery(maxAttempts: 1)
        }
        _ = try? await old.client.send(Bench.get)
        var options = RequestOptions()
        options.account = "ada"
        old.transport.append([.status(423, ["lockout": "600"])])
        let post = HTTPRequest(method: .post, scheme: "https", authority: "login.example.com", path: "/")
        _ = try? await old.client.send(post, options: options)
        old.clock.advance(by: .seconds(10))
        let state = try #require(
            RecoveringClient.LiveState(json: try JSONValue(parsing: old.client.liveState().json.description))
        )
        let new = Bench {
            Deadline(.seconds(1))
            Recovery()
        }
        new.clock.advance(by: .seconds(30))
        #expect(await new.client.restore(state) == [])
        let limited = await #expect(throws: RecoveryError.self) { try await new.client.send(Bench.get) }
        #expect(limited?.outcome.kind == .rateLimited && limited?.retryAfter == .seconds(30))
        let locked = await #expect(throws: RecoveryError.self) { try await new.client.send(post, options: options) }
        #expect(locked?.outcome.kind == .accountLocked && new.transport.received.isEmpty)
        #expect(locked?.remedies == [.unlock])
        // What would have ended meanwhile has ended.
        let later = Bench()
        later.clock.advance(by: .seconds(700))
        await later.client.restore(state)
        #expect(try await later.client.send(Bench.get).status == .ok)
    }

    @Test func noSecretIsInIt() async throws {
        let process = Process()
        var request = Bench.get
        request.headerFields[.authorization] = "Bearer hunter2"
        process.bench.transport.append([.status(429, ["retry-after": "60", "ratelimit": #""a";r=0;t=9"#])])
        var options = RequestOptions()
        options.deadline = .seconds(1)
        _ = try? await process.bench.client.send(request, options: options)
        let text = process.bench.client.liveState().json.description
        #expect(!text.contains("hunter2") && !text.contains("s3cret") && text.contains("api.example.com"))
    }

    @Test(arguments: [
        "null", "{}", #"{"version":1,"at":1}"#, #"{"version":1,"at":1e400,"admissions":{}}"#,
        #"{"version":1,"at":"1","admissions":{}}"#, #"{"version":1,"at":1,"admissions":[]}"#,
        // Another form of it may mean something else by the same words.
        #"{"at":1,"admissions":{}}"#, #"{"version":2,"at":1,"admissions":{}}"#,
    ])
    func whatIsNoStateIsNone(text: String) throws {
        #expect(RecoveringClient.LiveState(json: try JSONValue(parsing: text)) == nil)
    }

    @Test func anythingElseIsTakenOrNamed() async throws {
        let process = Process()
        for _ in 1...3 { _ = await process.call(.status(503)) }
        let text = Array(process.bench.client.liveState().json.description.utf8)
        let mutator = ByteMutator(seed: 7)
        var read = 0
        for _ in 1...3000 {
            guard let json = try? JSONValue(parsing: mutator.mutate(text)),
                let state = RecoveringClient.LiveState(json: json)
            else { continue }
            read += 1
            let other = Process()
            await other.bench.client.restore(state)
            // Whatever was taken over, calls end.
            _ = await other.call(waitsFor: .seconds(100))
        }
        #expect(read > 100)
    }

    @Test func whatAClientDoesNotHaveIsNamed() async throws {
        let old = Process(only: [0, 1])
        for _ in 1...2 { _ = await old.call(.status(500)) }
        let new = Process(only: [0])
        #expect(await new.bench.client.restore(try old.exported()) == ["Pacing"])
    }

    @Test func aBudgetIsResizedWithoutLosingWhatItHolds() async throws {
        let process = Process(budget: .ratio(.init(ratio: 0, burst: 10)), only: [])
        let (recovery, runtime) = (process.recovery, process.bench.client.runtime)
        for _ in 1...4 {
            process.bench.transport.append([.status(503), .status(503)])
            _ = await process.call()
        }
        func left() -> Double { recovery.budgetLeft(for: Bench.get, at: runtime.time.now) }
        #expect(left() == 6)
        #expect(recovery.resizeBudget(to: .ratio(.init(ratio: 0.5, burst: 20)), in: runtime) && left() == 6)
        for _ in 1...4 { _ = await process.call() }
        #expect(left() == 8)
        #expect(recovery.resizeBudget(to: .ratio(.init(ratio: 0, burst: 3)), in: runtime) && left() == 3)
        #expect(!recovery.resizeBudget(to: .unlimited, in: runtime) && left() == 3)
    }
}
