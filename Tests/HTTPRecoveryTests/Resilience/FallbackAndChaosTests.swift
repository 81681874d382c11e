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
