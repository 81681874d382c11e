import Dispatch
import Glibc
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// What a stranger expects of a client as a whole.
@Suite(.timeLimit(.minutes(30))) struct ClientTests {
    // MARK: Layers

    /// Sees what comes out of the engine.
    private final class Watcher: ClientLayer {
        let histories = Locked<[History]>([])

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let response = try await next(request, body: body, context: context)
            histories.withLock { $0.append(response.history) }
            return response
        }
    }

    @Test func everyLayerSeesTheHistory() async throws {
        let (outer, inner) = (Watcher(), Watcher())
        let bench = Bench([.status(503), .status(200)]) {
            outer
            Recovery()
            inner
        }
        let response = try await bench.sendSkippingWaits()
        #expect(outer.histories.withLock { $0 } == [response.history])
        #expect(response.history.attempts.count == 2 && response.history.waits.count == 1)
        #expect(inner.histories.withLock { $0.map(\.attempts.count) } == [1, 2])
    }

    private struct Presents: CredentialPresenting {
        func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity? { nil }
        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            try await next(request, body: body, context: context)
        }
    }

    @Test func anOrderThatCannotWorkIsToldByASentence() {
        #expect(
            CallContext.LayerPlace.problem(in: [Presents(), Recovery()])?.contains("write it below Recovery") == true
        )
        #expect(
            CallContext.LayerPlace.problem(in: [Recovery(), Deadline(.seconds(1))])?.contains("write it above") == true
        )
        #expect(
            CallContext.LayerPlace.problem(in: [Presents(), Recovery()])?.hasPrefix("Presents stands outside") == true
        )
        let working: [[any ClientLayer]] = [
            [], [Presents()], [Deadline(.seconds(1))], [Deadline(.seconds(1)), Recovery(), Presents()],
            [Redirects(), Recovery(), AttemptTimeout(.seconds(1))], [Recovery(), Redirects()],
            [Recovery(), Recovery()],
            RecoveringClient.defaultMiddlewares,
        ]
        let idle = CallContext.LayerPlace.problem(in: [AttemptTimeout(.seconds(5), idle: .seconds(5))])
        #expect(idle?.contains("never ends one") == true)
        #expect(CallContext.LayerPlace.problem(in: [AttemptTimeout(.seconds(5), idle: .zero)]) != nil)
        for layers in working { #expect(CallContext.LayerPlace.problem(in: layers) == nil) }
        let contradictory: [[any ClientLayer]] = [
            [AttemptTimeout(.zero)],
            [Recovery(budget: .tokens(capacity: -5))], [Recovery(hedging: .init(after: .zero, quantile: 2))],
            [Recovery(admissions: [Recovery.CircuitBreaker(.init(failureRatio: 7))])],
            [Recovery(admissions: [Recovery.ConcurrencyLimit(.fixed(0))])],
            [Recovery(admissions: [Recovery.Pacing(perSecond: 0)])],
        ]
        for layers in contradictory { #expect(CallContext.LayerPlace.problem(in: layers) != nil, "\(layers)") }
        // What ends earlier ends earlier.
        let ended: [any ClientLayer] = [Deadline(.seconds(5)), Recovery(), AttemptTimeout(.seconds(60))]
        #expect(CallContext.LayerPlace.problem(in: ended) == nil)
    }

    @Test func aCallWhoseOwnLayersCannotWorkIsRefused() async throws {
        let bench = Bench()
        for layer in [Deadline(.seconds(1)), Recovery(), AttemptTimeout(.seconds(1), idle: .seconds(2))]
            as [any ClientLayer]
        {
            var options = RequestOptions()
            options.attemptLayers = [layer]
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.client.send(Bench.get, options: options)
            }
            #expect(error?.outcome.kind == .misconfigured && error?.outcome.message?.isEmpty == false)
        }
        #expect(bench.transport.received.isEmpty && bench.events.words.contains { $0.hasPrefix("done") })
        // It was not left open.
        #expect(await bench.client.drain(within: .zero))
    }

    @Test func aClientSaysWhatItIsMadeOf() {
        let bench = Bench {
            Deadline(.seconds(60))
            Recovery(admissions: [Recovery.CircuitBreaker()])
            AttemptTimeout(.seconds(30), idle: .seconds(5))
        }
        #expect(
            "\(bench.client)" == "Deadline 60.0 seconds → Recovery 3 attempts, waits to 120.0 seconds [admissions: "
                + "RetryBudgets, CircuitBreaker, Gates; policies: RateLimitBackoff, LockoutWait, TransientRetry] → "
                + "AttemptTimeout 30.0 seconds (idle 5.0 seconds) → transport scripted"
        )
    }

    @Test func theEndOfAHistoryIsTheErrorsReason() {
        var error = RecoveryError(outcome: Outcome(.stateConflict), reason: .notRecoverable)
        #expect(error.history.end == .notRecoverable)
        error.reason = .identityChanged
        #expect(error.history.end == .identityChanged && error.history.steps.isEmpty)
    }

    @Test func aWatchKeepsABoundedHistory() async throws {
        let bench = Bench()
        let history = try await bench.clock.skippingWaits {
            try await bench.client.looseOperation { operation in
                for _ in 0..<3000 { try await operation.pause(.seconds(5), reason: .ok) }
                return operation.context.record.history
            }
        }
        #expect(history.steps.count <= History.limit && history.waited == .seconds(15_000))
    }

    @Test func aShutdownRefusesTheCallsOfAWatchWhileOthersEnd() async throws {
        let bench = Bench([.hang])
        let other = Task { try? await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        let drained = Task { await bench.client.drain(within: .seconds(60)) }
        await bench.clock.waitForSleeper(of: .seconds(60), purpose: .guard)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.looseOperation { operation in
                _ = try await bench.client.within(operation).send(Bench.get)
            }
        }
        #expect(error?.outcome.transportError?.code == .shutDown)
        other.cancel()
        _ = await other.value
        _ = await drained.value
    }

    @Test func aClientWithSuchAnOrderIsNotBuilt() async {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            // The end is the one that is expected: a backtrace of it takes long, and under a sanitizer for ever.
            for number in [SIGILL, SIGTRAP] { signal(number, SIG_DFL) }
            _ = RecoveringClient(transport: ScriptedTransport()) {
                Recovery()
                Deadline(.seconds(1))
            }
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Deadline stands inside Recovery"))
    }

    // MARK: Time

    @Test(arguments: [(1, false), (90, true)])
    func aCallsOwnDeadlineTakesThePlaceOfTheClients(seconds: Int, succeeds: Bool) async throws {
        let bench = Bench([.status(429, ["retry-after": "40"]), .status(200)]) {
            Deadline(.seconds(30))
            Recovery()
        }
        let result = await Result { () async throws(any Error) -> RecoveredResponse in
            try await bench.sendSkippingWaits(options: RequestOptions(deadline: .seconds(seconds)))
        }
        #expect(((try? result.get()) != nil) == succeeds)
    }

    @Test func noAttemptLastsForEverUnlessThatIsWanted() async throws {
        let unnamed = Bench { Recovery() }
        _ = try await unnamed.client.send(Bench.get)
        #expect(unnamed.transport.received.map(\.timeout) == [AttemptTimeout.standard])
        let unbounded = Bench {
            Recovery()
            AttemptTimeout.none
        }
        _ = try await unbounded.client.send(Bench.get)
        #expect(unbounded.transport.received.map(\.timeout) == [nil])
        let bounded = Bench { AttemptTimeout.none }
        _ = try await bounded.client.send(Bench.get, options: RequestOptions(deadline: .seconds(90)))
        #expect(bounded.transport.received.map(\.timeout) == [.seconds(90)])
        let hanging = Bench([.hang], enforcesTimeouts: false) {}
        let error = await #expect(throws: RecoveryError.self) { try await hanging.sendSkippingWaits() }
        #expect(error?.kind == .timedOut && hanging.clock.now.offset == .seconds(30))
    }

    /// A transport that needs the thread of whoever cancels it, and time of its own.
    private struct Stubborn: HTTPTransport {
        let release = DispatchSemaphore(value: 0)
        var name: String { "stubborn" }
        var enforcesTimeouts: Bool { false }

        func send(
            _ request: HTTPRequest,
            body: MessageBody?,
            options: AttemptOptions
        ) async throws -> TransportResponse {
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            return try await withTaskCancellationHandler {
                for await _ in stream {}
                throw TransportError(.connectionLost, .unknown)
            } onCancel: {
                // Longer than the call takes, but not for ever: a machine may have one thread for all.
                _ = release.wait(timeout: .now() + 20)
                continuation.finish()
            }
        }
    }

    @Test func aTransportThatBlocksWhenItIsCancelledHoldsNobodyUp() async throws {
        let clock = ManualClock()
        let transport = Stubborn()
        let client = RecoveringClient(transport: transport, runtime: Runtime(time: clock.timeSource())) {
            AttemptTimeout(.seconds(5))
        }
        let call = Task { try await client.send(Bench.get) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: RecoveryError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
        transport.release.signal()
    }

    // MARK: Events

    @Test func everyEventTellsOfItsCall() async throws {
        let bench = Bench([.status(503), .status(200)])
        _ = try await bench.sendSkippingWaits(options: RequestOptions(label: "list items"))
        #expect(bench.events.events.count > 4)
        for event in bench.events.events {
            #expect(event.label == "list items" && event.method == "GET")
            #expect(event.url == "https://api.example.com/items", "without the query")
        }
    }

    @Test func anOperationHasOneNumberOneEndAndItsBounds() async throws {
        let bench = Bench([.status(200), .status(503), .status(200)])
        let numbers = try await bench.clock.skippingWaits {
            try await bench.client.operation(deadline: .seconds(60), label: "twice") { operation in
                let client = bench.client.within(operation)
                _ = try await client.send(Bench.get, options: RequestOptions(label: "first"))
                try await operation.pause(.seconds(2), reason: .challengePending)
                _ = try await client.send(Bench.get)
                // It would end past the deadline.
                let error = await #expect(throws: RecoveryError.self) {
                    try await operation.pause(.seconds(60), reason: .challengePending)
                }
                #expect(error?.reason == .deadlineWouldPass && error?.retryAfter == .seconds(60))
                return Set(bench.events.events.map(\.call))
            }
        }
        #expect(numbers == [1])
        #expect(Set(bench.events.events.map(\.label)) == ["first", "twice"])
        #expect(bench.events.events.last?.label == "twice")
        let words = bench.events.words
        #expect(words.filter { $0.hasPrefix("attempt") } == ["attempt 1", "attempt 2", "attempt 3"])
        #expect(words.filter { $0.hasPrefix("done") } == ["done ok 3"])
        #expect(words.contains("wait challenge_pending 2.0"))
    }

    @Test func repetitionsOfAnOperationArePaidFor() async throws {
        let bench = Bench([], then: .status(503)) {
            Recovery(maxAttempts: 1, budget: .ratio(.init(ratio: 0, burst: 2)))
        }
        struct Again: RecoveryOperation.Plan {
            var tries = 0
            mutating func next(
                after event: RecoveryOperation.Event<RecoveredResponse>,
                at now: TimeSource.Instant,
                random: () -> Double
            ) -> RecoveryOperation.Action<Void, RecoveredResponse> {
                switch event {
                case .answered(let response): return .finish(response)
                case .failed(let error) where error.reason == .budgetExhausted: return .fail(error)
                case .begun, .failed, .paused, .notPaused:
                    tries += 1
                    return .perform((), repeating: tries == 1 ? nil : .unavailable)
                }
            }
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.operation { operation in
                try await operation.run(Again()) { _, operation in
                    try await bench.client.within(operation).send(Bench.get)
                }
            }
        }
        #expect(error?.reason == .budgetExhausted && error?.kind == .unavailable)
        #expect(bench.transport.received.count == 3, "the first, and as many as the budget holds")
    }

    // MARK: Nothing was shown

    /// Has no credential to attach, and says so.
    private struct Empty: CredentialPresenting {
        func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity? { nil }
        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            var context = context
            context.present(nil)
            return try await next(request, body: body, context: context)
        }
    }

    @Test func whoHasShownNothingIsNotToldThatASessionHasEnded() async throws {
        let bench = Bench([.status(401, ["www-authenticate": #"Bearer error="invalid_token""#])]) {
            Recovery()
            Empty()
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.get, options: RequestOptions(presents: .session))
        }
        #expect(error?.outcome.tokenAction == .keep)
        #expect(error?.userMessage.contains("has ended") == false, "\(error?.userMessage ?? "")")
    }
}

extension Result {
    /// What the function came to.
    fileprivate init(_ body: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
