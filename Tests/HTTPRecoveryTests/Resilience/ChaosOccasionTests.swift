import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// When something is made to fail, and how.
@Suite struct ChaosOccasionTests {
    private typealias Chaos = RecoveringClient.Chaos

    /// A client that tries once, to whose attempts something is done.
    private func bench(
        _ monkeys: [RecoveringClient.Chaos.Monkey],
        _ steps: [ScriptedTransport.Step] = [],
        maxAttempts: Int = 1
    ) -> (bench: Bench, chaos: RecoveringClient.Chaos) {
        let chaos = Chaos(monkeys, seed: 1)
        chaos.isEnabled = true
        let bench = Bench(steps, then: .status(200, ["content-type": "application/json"], body: "0123456789")) {
            Recovery(maxAttempts: maxAttempts)
            chaos
            AttemptTimeout(.seconds(5))
        }
        return (bench, chaos)
    }

    @Test(arguments: [
        (RecoveringClient.Chaos.Occasion.number(3), [3]), (.every(3), [3, 6, 9]), (.first(2), [1, 2]),
        (.numbers(4...5), [4, 5]), (.after(7), [8, 9]), (.always, Array(1...9)), (.share(0), []), (.number(0), []),
        (.first(0), []), (.first(-1), []), (.every(0), []), (.every(.min), []), (.after(.max), []),
        (.after(.min), Array(1...9)),
        (.number(.max), []),
    ])
    func itIsDoneToTheAttemptsOfItsOrdinals(occasion: RecoveringClient.Chaos.Occasion, expected: [Int]) async throws {
        let (bench, _) = bench([.init(occasion, .notSent)])
        var failed: [Int] = []
        for number in 1...9 where (try? await bench.client.send(Bench.get)) == nil { failed.append(number) }
        #expect(failed == expected)
    }

    @Test func eachPathIsCountedForItself() async throws {
        let (bench, chaos) = bench([.init(.first(2), .status(429, [.retryAfter: "1"]), toPath: "/a")])
        func status(_ path: String) async throws -> Int {
            let request = try HTTPRequest(method: .get, url: "https://\(path.dropFirst()).example.com\(path)?q=1")
            do {
                return try await bench.client.send(request).status.code
            } catch let error as RecoveryError {
                return error.outcome.status ?? 0
            }
        }
        #expect(try await status("/b") == 200)
        for expected in [429, 429, 200] {
            #expect(try await status("/a") == expected)
            bench.clock.advance(by: .seconds(10))
        }
        // Whoever sets them anew counts anew; what comes meanwhile is not counted.
        chaos.monkeys = chaos.monkeys
        chaos.isEnabled = false
        #expect(try await status("/a") == 200)
        chaos.isEnabled = true
        #expect(try await status("/a") == 429)
    }

    @Test func aRetryIsAnAttemptOfItsOwn() async throws {
        let (bench, _) = bench([.init(.first(2), .status(503))], maxAttempts: 3)
        let response = try await bench.sendSkippingWaits()
        #expect(response.history.attempts.map(\.status) == [503, 503, 200] && bench.transport.received.count == 1)
    }

    @Test(arguments: [
        (RecoveringClient.Chaos.Injection.notSent, TransportError.Certainty.neverSent, 0, 2),
        (.notProcessed, .notProcessed, 0, 2), (.lostAnswer, .unknown, 1, 1),
    ])
    func howFarItCameIsKnown(
        injection: RecoveringClient.Chaos.Injection,
        certainty: TransportError.Certainty,
        sent: Int,
        attempts: Int
    ) async throws {
        let (bench, _) = bench([.init(.always, injection)], maxAttempts: 2)
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits(Bench.post) }
        #expect(error?.outcome.transportError?.certainty == certainty)
        // What may have been processed is not sent again.
        #expect(bench.transport.received.count == sent && error?.history.attempts.count == attempts)
    }

    @Test(arguments: [(4, nil), (5, TransportError.Code.timedOut), (1000, .timedOut)])
    func anAnswerIsLateWithinTheTimeOfTheAttempt(seconds: Int, code: TransportError.Code?) async throws {
        let (bench, _) = bench([.init(.always, .lateAnswer(.seconds(seconds)))])
        let before = bench.clock.now
        let result = await Result(catching: { try await bench.sendSkippingWaits() })
        #expect(
            before.duration(to: bench.clock.now) == .seconds(min(seconds, 5)) && bench.transport.received.count == 1
        )
        switch result {
        case .success(let response): #expect(response.status == .ok && code == nil)
        case .failure(let error):
            let failure = (error as? RecoveryError)?.outcome.transportError
            #expect(failure?.code == code && failure?.certainty == .unknown)
        }
    }

    @Test(arguments: [0, 4, 10, 99, -1])
    func aBodyBreaksOff(count: Int) async throws {
        let (bench, _) = bench([.init(.first(1), .truncatedBody(after: count))])
        var options = RequestOptions()
        options.buffering = .streamed
        let response = try await bench.client.send(Bench.get, options: options)
        var read: [UInt8] = []
        let error = await #expect(throws: TransportError.self) {
            for try await piece in response.body { read += piece }
        }
        #expect(error?.code == .truncated && error?.certainty == .answered)
        #expect(read == Array("0123456789".utf8.prefix(max(0, count))))
        #expect(try await bench.client.send(Bench.get).body.collect(upTo: 100).count == 10)
    }

    @Test func whatStandsFirstIsOutermost() async throws {
        let (bench, _) = bench([
            .init(.always, .contentType("text/html")), .init(.number(2), .status(200, body: "<p>")),
            .init(.always, .behavior { _ in throw TransportError(.other, .neverSent) }),
        ])
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        let response = try await bench.sendSkippingWaits()
        #expect(response.headerFields[.contentType] == "text/html" && bench.transport.received.isEmpty)
        #expect(try await response.body.collect(upTo: 10) == Array("<p>".utf8))
    }

    @Test(arguments: [(-7, 100), (0, 100), (503, 503), (1000, 999), (.max, 999)])
    func aStatusIsOne(code: Int, expected: Int) {
        guard case .outcome(let head, _) = Chaos.Injection.status(code) else {
            Issue.record("it is no answer")
            return
        }
        #expect(head.status.code == expected)
    }
}

extension Result where Failure == any Error, Success: Sendable {
    fileprivate init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
