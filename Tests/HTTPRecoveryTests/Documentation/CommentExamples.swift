import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What comments show, run.
@Suite struct CommentExamples {
    private let transport = ScriptedTransport()

    @Test func chaos() {
        let chaos = RecoveringClient.Chaos([
            .init(rate: 0.01, .latency(.seconds(2))), .init(.every(200), .status(503, [.retryAfter: "1"])),
        ])
        let client = RecoveringClient(transport: transport) {
            Recovery()
            chaos
        }
        chaos.isEnabled = true
        #expect("\(client)".contains("Chaos"))
    }

    @Test func settings() throws {
        do {
            var settings = RecoveringClient.Settings.interactive
            settings.breaker = .consecutive(5)
            let client = RecoveringClient(transport: transport) { settings.layers() }
            #expect("\(client)".contains("CircuitBreaker"))
        }
        let recovery = RecoveringClient.ReloadableRecovery(.interactive)
        let client = RecoveringClient(transport: transport) { recovery }
        try recovery.apply(.batch, in: client.runtime)
        #expect(recovery.settings == .batch)
    }

    @Test func admissions() {
        do {
            let breaker = Recovery.CircuitBreaker(.consecutive(5))
            let client = RecoveringClient(transport: transport) { Recovery(admissions: [breaker]) }
            #expect("\(client)".contains("CircuitBreaker"))
        }
        let client = RecoveringClient(transport: transport) { Recovery(admissions: [Recovery.AnnouncedLimits()]) }
        #expect("\(client)".contains("AnnouncedLimits"))
    }

    @Test func anOperation() async throws {
        let (clock, status) = (ManualClock(), Bench.get)
        let transport = ScriptedTransport([.status(202), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        try await clock.skippingWaits {
            try await client.operation(deadline: .seconds(60)) { operation in
                let client = client.within(operation)
                while try await client.send(status).status == .accepted {
                    try await operation.pause(.seconds(2), reason: .challengePending)
                }
            }
        }
        #expect(transport.received.count == 2)
    }

    @Test func aServerInTheProcess() async throws {
        let transport = InProcessTransport(routes: [
            .on(.get, "/items/{id}") { call in
                .scripted(200, ["content-type": "text/plain"], body: "item \(call.parameters["id"] ?? "")")
            },
            .on(.post, "/items") { call in
                let bytes = try await call.body.collect(upTo: 1 << 20)
                return .scripted(201, body: "\(bytes.count) bytes")
            },
        ])
        let client = RecoveringClient(transport: transport)
        let request = try HTTPRequest(method: .post, url: "https://api.example.com/items")
        let response = try await client.send(request, body: MessageBody("abc"))
        #expect(try await response.body.collect(upTo: 100) == Array("3 bytes".utf8))
    }

    @Test func aHistory() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(429, ["retry-after": "20"])])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        let response = try await clock.skippingWaits { try await client.send(Bench.get) }
        try response.history.expect(.wait(because: .rateLimited, atLeast: .seconds(20)), .retry(because: .rateLimited))
    }

    /// Compiled alone: the client waits by another clock.
    private func aClock(_ client: RecoveringClient, _ request: HTTPRequest) async throws -> RecoveredResponse {
        let clock = ManualClock()
        async let response = client.send(request)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        return try await response
    }

    @Test func anExchange() {
        let outcome = ShopClassifier().classify(.scripted(400, body: #"{"error": "busy"}"#))
        #expect(outcome.kind == .rateLimited)
    }

    @Test func aSimulation() async throws {
        var simulation = Simulation(.awsStandard)
        simulation.calls = [Simulation.Call(answers: [.status(503), .status(200)])]
        let report = try await simulation.run()
        #expect(report.calls[0].end == .ok)
    }

    @Test func aServerThatFails() throws {
        let server = try FaultServer(.reset, .answer(body: "second time lucky"))
        // the first request is read and its connection reset, all further ones are answered
        #expect(server.port > 0)
    }
}

/// A transport of the reader's own, which is not here: so the checks of it are compiled alone.
@Suite(.disabled("compiled alone")) struct ConformanceExamples {
    private struct MyTransport: HTTPTransport {
        let name = "mine"
        let connectTimeout: Duration
        let certificates: String?

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            throw CancellationError()
        }
    }

    static let mine = TransportUnderTest(name: "mine", addedFields: ["user-agent"]) { options in
        MyTransport(connectTimeout: options.connectTimeout, certificates: options.caFile)
    }

    @Test(arguments: TransportConformance.checks(for: mine))
    func conforms(_ check: TransportConformance.Check) async throws {
        try await check(Self.mine)
    }

    @Test(arguments: TransportConformance.lanes(4, for: mine))
    func conforms(_ lane: TransportConformance.Lane) async {
        await lane.run { check, error in Issue.record(error, "\(check)") }
    }
}
