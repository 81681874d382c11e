import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct StepUpTests {
    private static let held = Credentials(accessToken: "A1", refreshToken: "R1", ssoToken: "S1")

    private static let carriers: [ScriptedTransport.Step] = [
        .status(
            307,
            [
                "location":
                    "https://id.example.com/am/?authIndexType=composite_advice&authIndexValue=\(PolicyAdviceTests.encoded)"
            ]
        ),
        .status(
            401,
            ["www-authenticate": "SSOADVICE realm=\"/\",advices=\"\(Base64Text.encode(PolicyAdviceTests.json))\""]
        ),
        .status(200, [:], body: #"{"resource":"x","actions":{},"advices":\#(PolicyAdviceTests.json)}"#),
    ]

    private func resources(
        _ bench: ForgeRockBench,
        _ steps: [ScriptedTransport.Step],
        _ person: Person
    ) -> (client: RecoveringClient, transport: ScriptedTransport) {
        let transport = ScriptedTransport(steps, then: .status(418))
        let forgeRock = bench.forgeRock
        let runtime = Runtime(time: bench.clock.timeSource(), classifier: ForgeRockClassifier())
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Redirects()
            Recovery {
                StepUp(forgeRock, answering: person)
                TransientRetry()
            }
            SessionCookie(forgeRock, audience: [Origin(scheme: "https", authority: "app.example.com")])
        }
        return (client, transport)
    }

    @Test(arguments: carriers.indices)
    func anAdviceIsFollowedOnceAndTheRequestReplayedWithItsTransaction(_ index: Int) async throws {
        let bench = try ForgeRockBench(
            [.session(of: "ada"), .step(AM.code), .success("S2"), .session(of: "ada")],
            credentials: Self.held
        )
        let person = Person([.totp: "1"])
        let (client, transport) = resources(bench, [Self.carriers[index], .status(200, [:], body: "done")], person)
        let request = try HTTPRequest(method: .post, url: "https://app.example.com/pay?x=1")
        let response = try await client.send(request, body: MessageBody("amount=1"))
        #expect(response.outcome.kind == .ok)
        #expect(transport.received.map(\.request.path) == ["/pay?x=1", "/pay?x=1&_txid=tx-1"])
        #expect(transport.received.map { $0.request.headerFields[.cookie] } == ["sso=S1", "sso=S2"])
        #expect(transport.received.map(\.text) == ["amount=1", "amount=1"])
        // The journey ran with the session, and all tokens stayed.
        let start = bench.transport.received[1].request
        #expect(start.headerFields[.cookie] == "sso=S1")
        #expect(start.path?.contains("authIndexType=composite_advice&authIndexValue=%3CAdvices%3E") == true)
        #expect(
            try await bench.credentials == Credentials(accessToken: "A1", refreshToken: "R1", ssoToken: "S2")
        )
    }

    @Test func aCallThatFollowedAnAdviceIsReplayed() async throws {
        let bench = try ForgeRockBench(
            [.session(of: "ada"), .step(AM.code), .success("S2"), .session(of: "ada")],
            credentials: Self.held
        )
        let person = Person([.totp: "1"])
        let (client, _) = resources(bench, [Self.carriers[2], .status(200)], person)
        let kept = Locked<[CallRecording]>([])
        let request = try HTTPRequest(method: .post, url: "https://app.example.com/pay?x=1")
        let options = RequestOptions(recorder: { recording in kept.withLock { $0.append(recording) } })
        _ = try await client.send(request, body: MessageBody("amount=1"), options: options)
        let recording = try #require(kept.withLock { $0.first })
        let policies: [any RecoveryPolicy] = [StepUp(bench.forgeRock, answering: person), TransientRetry()]
        try Recovery.replay(recording, policies: policies).verify()
        #expect(!recording.json.description.contains("tx-1"))
    }

    @Test func anAdviceThatComesAgainIsNotFollowedAgain() async throws {
        let bench = try ForgeRockBench(
            [.session(of: "ada"), .success("S2"), .session(of: "ada")],
            credentials: Self.held
        )
        let (client, transport) = resources(bench, [Self.carriers[2], Self.carriers[2], .status(200)], Person())
        let error = await #expect(throws: RecoveryError.self) {
            try await client.send(try HTTPRequest(url: "https://app.example.com/pay"))
        }
        #expect(error?.kind == .stepUpRequired && error?.reason == .alreadyRepaired)
        #expect(transport.received.count == 2 && bench.transport.received.count == 3)
    }

    @Test func aStepUpThatFailsLeavesEverythingAsItWas() async throws {
        let bench = try ForgeRockBench(
            [.session(of: "ada"), .login, .error(401, "Login failure")],
            credentials: Self.held
        )
        let (client, transport) = resources(
            bench,
            [Self.carriers[1]],
            Person([.text: "ada", .password: "p"])
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await client.send(try HTTPRequest(url: "https://app.example.com/pay"))
        }
        #expect(error?.reason == .repairFailed)
        #expect(transport.received.count == 1)
        #expect(try await bench.credentials == Self.held)
    }

    @Test func aStepUpBySomebodyElseIsNotFollowed() async throws {
        let bench = try ForgeRockBench(
            [.session(of: "ada"), .success("S2"), .session(of: "bob"), .status(200, [:], body: #"{"result":"x"}"#)],
            credentials: Self.held
        )
        let (client, transport) = resources(bench, [Self.carriers[1]], Person())
        let error = await #expect(throws: RecoveryError.self) {
            try await client.send(try HTTPRequest(method: .post, url: "https://app.example.com/pay"))
        }
        #expect(error?.reason == .identityChanged && transport.received.count == 1)
        #expect(try await bench.credentials == Self.held)
    }

    @Test func theClientItselfFollowsAdvicesWhereSomebodyCanAnswer() async throws {
        let bench = try ForgeRockBench(
            [
                Self.carriers[0], .session(of: "ada"), .step(AM.code), .success("S2"), .session(of: "ada"),
                .status(200, [:], body: "{}"),
            ],
            credentials: Credentials(ssoToken: "S1")
        )
        _ = try await bench.forgeRock.send(path: "/json/pay", answering: Person([.totp: "1"]))
        #expect(bench.transport.received.last?.request.path == "/am/json/pay?_txid=tx-1")
        let alone = try ForgeRockBench([Self.carriers[0]], credentials: Credentials(ssoToken: "S1"))
        let error = await #expect(throws: RecoveryError.self) { try await alone.forgeRock.send(path: "/json/pay") }
        #expect(error?.kind == .stepUpRequired)
    }
}
