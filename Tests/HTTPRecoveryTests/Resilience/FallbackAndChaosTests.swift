import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// What answers in the server's place, and what makes it fail on purpose.
@Suite struct FallbackAndChaosTests {
    @Test func aConstantStandsInForAServerThatIsDown() async throws {
        let bench = Bench(then: .status(503)) {
            RecoveringClient.Fallback { _, outcome in
                .response(HTTPResponse(status: .ok), body: MessageBody("instead of \(outcome.status ?? 0)"))
            }
            Recovery(maxAttempts: 2)
        }
        let response = try await bench.sendSkippingWaits()
        #expect(try await response.body.collect(upTo: 100) == Array("instead of 503".utf8))
        #expect(response.history.attempts.count == 2 && bench.events.words.contains { $0.hasPrefix("fallback") })
    }

    @Test func anotherSiteIsAskedThroughTheSameEngine() async throws {
        let bench = Bench([.status(503), .fail(.connectionLost, .unknown), .status(200, body: "second")]) {
            RecoveringClient.Fallback { request, _ in
                var other = request
                other.authority = "second.example.com"
                return .request(other)
            }
            Recovery(maxAttempts: 1)
        }
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(bench.transport.received.map(\.request.authority) == ["api.example.com", "second.example.com"])
        #expect(try await bench.sendSkippingWaits().status == .ok)
    }

    @Test func whatTheCallerHasDoneWrongStands() async throws {
        let layer = RecoveringClient.Fallback { _, _ in .response(HTTPResponse(status: .ok)) }
        let bench = Bench(then: .status(404)) {
            layer
            Recovery()
        }
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        let none = Bench(then: .status(503)) {
            RecoveringClient.Fallback { _, _ in throw TransportError(.other, .unknown) }
            Recovery(maxAttempts: 1)
        }
        let error = await #expect(throws: RecoveryError.self) { try await none.sendSkippingWaits() }
        #expect(error?.outcome.status == 503)
        // Without an engine a failing response is handed on.
        let bare = Bench(then: .status(503)) { layer }
        #expect(try await bare.client.send(Bench.get).status == .ok)
    }

    @Test func cancellationIsNoFailure() async throws {
        let bench = Bench(then: .hang) {
            RecoveringClient.Fallback(when: { _ in true }) { _, _ in .response(HTTPResponse(status: .ok)) }
            Recovery()
        }
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func chaosDoesNothingUntilItIsSwitchedOnAndIsRecoveredFrom() async throws {
        let chaos = RecoveringClient.Chaos([.init(rate: 1, .outcome(HTTPResponse(status: .init(code: 503))))], seed: 1)
        let bench = Bench {
            Recovery(maxAttempts: 2)
            chaos
        }
        #expect(try await bench.sendSkippingWaits().status == .ok)
        chaos.isEnabled = true
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(error?.reason == .attemptsExhausted && bench.transport.received.count == 1)
        chaos.monkeys = [.init(rate: 1, .latency(.seconds(2)))]
        let before = bench.clock.now
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(before.duration(to: bench.clock.now) == .seconds(2))
        chaos.monkeys = [.init(rate: 1, .fault(TransportError(.connectionLost, .unknown)), to: { $0.method == .post })]
        #expect(try await bench.sendSkippingWaits().status == .ok)
        let lost = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits(Bench.post) }
        #expect(lost?.reason == .methodNotIdempotent)
    }

    @Test(arguments: [
        RecoveringClient.Chaos.Injection.outcome(HTTPResponse(status: .init(code: 503))),
        .fault(TransportError(.connectionLost, .neverSent)),
        .behavior { _ in throw TransportError(.connectionLost, .neverSent) },
    ])
    func whatChaosDoesIsToldAndJudgedAsIfItWereReal(injection: RecoveringClient.Chaos.Injection) async throws {
        func run(_ isChaos: Bool) async throws -> (words: [String], history: Int, ends: [String]) {
            let chaos = RecoveringClient.Chaos([.init(rate: 1, injection)], seed: 1)
            chaos.isEnabled = isChaos
            let breaker = Recovery.CircuitBreaker(.consecutive(3, breakDuration: .seconds(10)))
            let real: ScriptedTransport.Step =
                if case .outcome = injection { .status(503) } else { .fail(.connectionLost, .neverSent) }
            let bench = Bench(then: real) {
                Recovery(maxAttempts: 3, admissions: [breaker])
                chaos
            }
            bench.clock.advance(by: .seconds(100))
            let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
            let words = bench.events.words
            var ends: [String] = []
            for _ in 0..<12 {
                bench.clock.advance(by: .seconds(1))
                let next = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
                ends.append("\(next?.reason ?? .notRecoverable)")
            }
            #expect(bench.transport.received.isEmpty == isChaos)
            return (words, error?.history.attempts.count ?? 0, ends)
        }
        let (chaos, real) = (try await run(true), try await run(false))
        #expect(chaos.words == real.words && chaos.words.contains("done failed 3"))
        #expect(chaos.history == 3 && chaos.ends == real.ends && chaos.ends.first == "breaker_open")
    }

    @Test func anAttemptThatChaosDelaysKeepsItsTime() async throws {
        let chaos = RecoveringClient.Chaos([.init(rate: 1, .latency(.seconds(4)))])
        chaos.isEnabled = true
        let bench = Bench([.hang]) {
            Recovery(maxAttempts: 1)
            chaos
            AttemptTimeout(.seconds(5))
        }
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleeper(of: .seconds(4))
        bench.clock.advance(by: .seconds(4))
        await bench.transport.waitForRequests(1)
        #expect(bench.transport.received[0].timeout == .seconds(1))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func chaosIsTheSameForASeed() async throws {
        func failures(_ seed: UInt64) async throws -> [Bool] {
            let chaos = RecoveringClient.Chaos(
                [.init(rate: 0.3, .fault(TransportError(.other, .neverSent)))],
                seed: seed
            )
            chaos.isEnabled = true
            let bench = Bench {
                Recovery(maxAttempts: 1)
                chaos
            }
            var failures: [Bool] = []
            for _ in 0..<60 { failures.append((try? await bench.client.send(Bench.get)) == nil) }
            return failures
        }
        let first = try await failures(7)
        #expect(try await failures(7) == first)
        #expect((8...28).contains(first.count { $0 }))
    }

    @Test(arguments: [(true, 2), (false, 1)])
    func anOutstandingRequestWithTheSameKeyIsWaitedFor(hasKey: Bool, attempts: Int) async throws {
        let bench = Bench([.status(409), .status(201)])
        var request = Bench.post
        if hasKey { request.headerFields[.idempotencyKey] = "\"k\"" }
        _ = try? await bench.sendSkippingWaits(request)
        #expect(bench.transport.received.count == attempts)
    }

    @Test(arguments: [
        (RecoveringClient.Settings.grpc, "grpc-previous-rpc-attempts", [nil, nil, "1", "2"]),
        (.awsStandard, "amz-sdk-request", ["attempt=1; max=3", "attempt=2; max=3", "attempt=3; max=3", nil]),
        (.standard, "amz-sdk-request", [nil, nil, nil, nil]),
    ])
    func aPresetTellsTheServerInItsWords(
        settings: RecoveringClient.Settings,
        name: String,
        expected: [String?]
    ) async throws {
        // What is made again for nothing is no attempt more.
        let bench = Bench([.fail(.connectionLost, .notProcessed), .status(503), .status(503), .status(200)]) {
            settings.layers()
        }
        _ = try? await bench.sendSkippingWaits()
        let field = try #require(HTTPField.Name(name))
        let told = bench.transport.received.map { $0.request.headerFields[field] }
        #expect(told == Array(expected.prefix(told.count)) && told.count >= 3)
    }

    @Test func theServerSeesOneIdentityAndManyNumbers() async throws {
        let requestID = try #require(HTTPField.Name("x-request-id"))
        let bench = Bench([.status(503), .status(503), .status(200)]) {
            Deadline(.seconds(60))
            RecoveringClient.RequestIdentity.idempotencyKey
            RecoveringClient.RequestIdentity.requestID(in: requestID)
            Recovery(maxAttempts: 3)
            RecoveringClient.AttemptNumber.amazon(maxAttempts: 3)
            RecoveringClient.AttemptNumber.grpc
        }
        _ = try await bench.sendSkippingWaits(Bench.post)
        let fields = bench.transport.received.map(\.request.headerFields)
        #expect(fields.count == 3 && Set(fields.map { $0[requestID] }).count == 1)
        let keys = Set(fields.compactMap { $0[.idempotencyKey] })
        let key = try #require(keys.first)
        #expect(keys.count == 1 && key.utf8.count == 38 && key.hasPrefix("\"") && key.utf8.dropFirst(15).first == 0x34)
        let amazon = try #require(HTTPField.Name("amz-sdk-request"))
        let grpc = try #require(HTTPField.Name("grpc-previous-rpc-attempts"))
        let words = fields.map { $0[amazon] }
        #expect(words == (1...3).map { "ttl=20300101T000100Z; attempt=\($0); max=3" })
        #expect(fields.map { $0[grpc] } == [nil, "1", "2"])
        // Behind an answer it is the server's time that counts.
        bench.transport.append([.status(503, ["date": "Tue, 01 Jan 2030 01:00:00 GMT"]), .status(200)])
        let begin = bench.clock.now.offset.inSeconds
        _ = try await bench.sendSkippingWaits()
        let ttl = bench.transport.received.suffix(2).compactMap { $0.request.headerFields[amazon]?.prefix(20) }
        #expect(ttl.count == 2 && ttl[0].hasPrefix("ttl=20300101T0001") && ttl[1].hasPrefix("ttl=20300101T010"))
        #expect(begin < 60)
        var request = Bench.post
        request.headerFields[.idempotencyKey] = "mine"
        request.headerFields[requestID] = "mine too"
        _ = try await bench.sendSkippingWaits(request)
        #expect(bench.transport.received.last?.request.headerFields[.idempotencyKey] == "mine")
        #expect(bench.transport.received.last?.request.headerFields[requestID] == "mine too")
        _ = try await bench.sendSkippingWaits()
        #expect(bench.transport.received.last?.request.headerFields[.idempotencyKey] == nil)
    }
}
