import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

/// What is to be tested: fetches the prices of a shop.
struct PriceList {
    let client: RecoveringClient

    func load() async throws -> String {
        let request = try HTTPRequest(method: .get, url: "https://shop.example.com/prices")
        let response = try await client.send(request)
        return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
    }
}

/// The guide to the tests of others: what it shows is compiled here, and does what it says.
@Suite struct TestingGuide {
    @Test func aWaitIsAFact() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(429, ["retry-after": "2"]), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))

        async let response = client.send(HTTPRequest(url: "https://api.example.com/items"))
        await clock.waitForSleepers(1)  // a fact, not a guess
        clock.advance(by: .seconds(3))
        #expect(try await response.status == .ok)
        #expect(transport.received.count == 2)
    }

    @Test func aRetryIsSeenInTheHistory() async throws {
        let transport = ScriptedTransport([
            .status(429, ["retry-after": "20"]), .status(503), .status(200, body: "3 EUR"),
        ])
        let clock = ManualClock()
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        let request = try HTTPRequest(method: .get, url: "https://shop.example.com/prices")
        let response = try await clock.skippingWaits { try await client.send(request) }
        #expect(
            response.history.attempts.map(\.cause) == [.call, .retry(after: .rateLimited), .retry(after: .unavailable)]
        )
        #expect(response.history.waits.map(\.reason) == [.rateLimited, .unavailable])
        #expect(response.history.waits[0].duration >= .seconds(20))
        try response.history.expect(
            .wait(because: .rateLimited, atLeast: .seconds(20)),
            .retry(because: .rateLimited, status: 503),
            .retry(because: .unavailable, status: 200)
        )
    }

    @Test func rulesOfOnesOwn() async throws {
        let busy = #"{"error": "busy", "wait_ms": 1500}"#
        let outcome = ShopClassifier().classify(.scripted(400, body: busy))
        #expect(outcome.kind == .rateLimited && outcome.retryAfter == .milliseconds(1500))

        let conflict = FailureContext(outcome: Outcome(.conflict), attempts: 3)
        guard case .pass = ConflictRetry().decide(conflict) else { throw TooOften() }
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(400, body: busy), .status(409), .status(200)])
        let runtime = Runtime.manual(clock, classifier: ShopClassifier())
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Recovery {
                ConflictRetry()
                RateLimitBackoff()
            }
        }
        let request = try HTTPRequest(method: .get, url: "https://shop.example.com/prices")
        let response = try await clock.skippingWaits { try await client.send(request) }
        try response.history.expect(
            .wait(because: .rateLimited, atLeast: .milliseconds(1500)),
            .retry(because: .rateLimited, status: 409),
            .retry(because: .conflict, status: 200)
        )
        #expect(response.history.attempts[0].code == "busy")
    }

    private struct TooOften: Error {}

    /// All that an exchange has is what was said.
    @Test func aScriptedExchange() throws {
        let (fields, now) = (["Retry-After": "3", "not a name": "x"], Timestamp(secondsSinceEpoch: 7))
        let exchange = Exchange.scripted(
            503,
            fields,
            body: "b",
            to: .post,
            path: "/a?q=1",
            presented: .access,
            at: now
        )
        guard case .response(let head, let body) = exchange.result else { throw TooOften() }
        #expect(head.status.code == 503 && head.headerFields == [.retryAfter: "3"] && body == [UInt8(ascii: "b")])
        #expect(exchange.method == .post && exchange.path == "/a" && exchange.query == "q=1")
        #expect(exchange.presented == .access && exchange.now == now)
        #expect(Exchange.scripted(200).now == ManualClock().timeSource().wallTime)
    }

    /// What clients share in a test is the store that was given.
    @Test func aManualRuntimeHasTheStoreThatWasGiven() async throws {
        let (store, clock) = (InMemoryRecoveryStore(), ManualClock())
        let limited = ScriptedTransport([.status(429, ["retry-after": "20"])])
        let first = RecoveringClient(transport: limited, runtime: .manual(clock, store: store))
        let second = RecoveringClient(transport: ScriptedTransport(), runtime: .manual(clock, store: store))
        let request = try HTTPRequest(method: .get, url: "https://shop.example.com/prices")
        let call = Task { try await first.send(request) }
        await clock.waitForSleepers(1)
        let response = try await clock.skippingWaits { try await second.send(request) }
        #expect(response.history.waits.map(\.reason) == [.rateLimited])
        _ = try await call.value
    }

    @Test func aFailureIsToldAsItIs() async throws {
        let transport = ScriptedTransport([], then: .fail(.cannotConnect, .neverSent))
        let clock = ManualClock()
        let prices = PriceList(client: RecoveringClient(transport: transport, runtime: .manual(clock)))
        let error = try #require(
            await #expect(throws: RecoveryError.self) { try await clock.skippingWaits { try await prices.load() } }
        )
        #expect(error.kind == .transport && error.reason == .attemptsExhausted)
        #expect(transport.received.count == 3)
    }

    @Test func anOrderIsNotSentTwice() async throws {
        let transport = ScriptedTransport([.fail(.connectionLost, .unknown), .status(201)])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let order = try HTTPRequest(method: .post, url: "https://shop.example.com/orders")
        let error = await #expect(throws: RecoveryError.self) {
            try await client.send(order, body: MessageBody("1 apple"))
        }
        #expect(error?.reason == .methodNotIdempotent && transport.received.count == 1)
    }

    @Test func aServerHasAMemory() async throws {
        let stock = Mutex(2)
        let transport = InProcessTransport(routes: [
            .on(.post, "/orders/{item}") { call in
                let isSold = stock.withLock { stock in
                    stock -= 1
                    return stock >= 0
                }
                return .scripted(isSold ? 201 : 409, body: call.parameters["item"] ?? "")
            }
        ])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let order = try HTTPRequest(method: .post, url: "https://shop.example.com/orders/apple")
        for _ in 0..<2 { #expect(try await client.send(order).status == .created) }
        let error = await #expect(throws: RecoveryError.self) { try await client.send(order) }
        #expect(error?.outcome.status == 409)
    }

    @Test func aServerIsRecorded() async throws {
        func loadsPrices(_ server: some HTTPTransport, cassette: String) async throws -> String {
            let kept = Cassette.Redaction(keeping: ["price"])
            return try await CassetteTransport.withFile(cassette, recording: server, redaction: kept) { transport in
                let client = RecoveringClient(transport: transport, runtime: .manual())
                return try await PriceList(client: client).load()
            }
        }
        let cassette = URL.temporaryDirectory.appending(path: "prices-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: cassette) }
        let server = ScriptedTransport([.status(200, body: #"{"price":3}"#)], then: .status(404))
        for _ in 0..<2 { #expect(try await loadsPrices(server, cassette: cassette.path) == #"{"price":3}"#) }
        #expect(server.received.count == 1)
    }

    @Test func aServerFailsAtAGivenMoment() async throws {
        let (clock, transport) = (ManualClock(), ScriptedTransport(then: .status(200, body: "3 EUR")))
        let chaos = RecoveringClient.Chaos(
            [
                .init(.number(3), .lostAnswer), .init(.first(2), .status(503, [.retryAfter: "1"]), toPath: "/prices"),
                .init(.every(5), .truncatedBody(after: 10)), .init(rate: 0.1, .lateAnswer(.seconds(2))),
            ],
            seed: 7
        )
        chaos.isEnabled = true
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery()
            chaos
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await clock.skippingWaits { try await PriceList(client: client).load() }
        }
        #expect(error?.history.attempts.map(\.status) == [503, 503, nil] && transport.received.count == 1)
        try error?.history.expect(.retry(because: .unavailable), .givenUp(.attemptsExhausted))
    }

    @Test func aPolicyIsSimulated() async throws {
        let outage = Simulation.Call(answers: [.status(503), .failure(.unknown, after: .seconds(1)), .status(200)])
        let report = try await Simulation(.awsStandard, calls: [outage]).run()
        #expect(report.calls[0].attempts.count == 3 && report.calls[0].end == .ok)
    }

    @Test func aServerHangs() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.hang, .status(200, body: "3 EUR")], enforcesTimeouts: false)
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery()
            AttemptTimeout(.seconds(5))
        }
        let call = Task { try await PriceList(client: client).load() }
        await clock.waitForSleeper(of: .seconds(5), purpose: .guard)
        clock.advance(by: .seconds(5))
        await clock.advanceToNextDeadline(of: .wait)
        #expect(try await call.value == "3 EUR")
        let events = EventRecorder(client.runtime.events)
        _ = try await client.send(HTTPRequest(method: .get, url: "https://shop.example.com/prices"))
        #expect(events.words.first == "attempt 1")
    }

    /// A page of another module is linked to by its address, which nothing else looks at.
    @Test func linksToOtherModulesLeadToPages() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let sources = root.appending(path: "Sources")
        let paths = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
        let pages = paths.filter { $0.hasSuffix(".md") }
        let places = Set(
            pages.map { path in
                let parts = path.dropLast(3).lowercased().split(separator: "/")
                return "\(parts.first ?? "")/\(parts.last ?? "")"
            }
        )
        var count = 0
        for page in pages {
            let text = try String(contentsOf: sources.appending(path: page), encoding: .utf8)
            for link in text.matches(of: #/\]\(/documentation/([^)]*)\)/#) {
                count += 1
                #expect(places.contains(String(link.1)), "\(page) links to \(link.1)")
            }
        }
        #expect(count > 0)
    }
}
