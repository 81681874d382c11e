import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A refused token is answered within the call: under its number, in its history, in its time.
///
/// A person has theirs.
@Suite(.timeLimit(.minutes(30))) struct ForgeRockReplayTests {
    private static let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1")
    private static let advised = ScriptedTransport.Step.status(
        401,
        ["www-authenticate": "SSOADVICE realm=\"/\",advices=\"\(Base64Text.encode(PolicyAdviceTests.json))\""]
    )

    private func bench(
        _ steps: [ScriptedTransport.Step],
        _ credentials: Credentials = held,
        deadline: Duration = .seconds(3600)
    ) throws -> ForgeRockBench {
        try ForgeRockBench(steps, credentials: credentials, oauth: ForgeRockBench.oauth) {
            Deadline(deadline)
            Recovery()
        }
    }

    private func attempts(_ bench: ForgeRockBench) -> [Int] {
        bench.events.events.filter { $0.kind.words.hasPrefix("attempt") }.map(\.call)
    }

    @Test func theReplayHasTheCallsNumberAndSaysWhy() async throws {
        let bench = try bench([.oauth(401, "invalid_token"), .tokens("A1"), .status(200, [:], body: "{}")])
        let response = try await bench.forgeRock.send(path: "/json/users/ada")
        #expect(response.history.attempts.map(\.cause) == [.call, .repair(name: "refresh_credential")])
        #expect(attempts(bench) == [1, 2, 1])
        #expect(bench.events.events.filter { $0.call == 2 }.allSatisfy { $0.parent == 1 })
    }

    @Test func aCallIsReplayedOnce() async throws {
        let refused = ScriptedTransport.Step.oauth(401, "invalid_token")
        let bench = try bench([refused, .tokens("A1"), refused, .tokens("A2"), .status(200)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(path: "/json/x") }
        #expect(error?.reason == .alreadyRepaired)
        #expect(attempts(bench) == [1, 2, 1])
        #expect(try await bench.credentials.accessToken == "A1")
    }

    @Test func aRefusalThatComesLateTouchesNoNewerToken() async throws {
        let tokens = InMemoryTokenStore(Self.held)
        let late = ScriptedTransport.Step.run { _ in
            try await tokens.update { $0.accessToken = "A9" }
            return .scripted(401, body: #"{"error":"invalid_token"}"#)
        }
        let bench = try ForgeRockBench([late, .status(200)], tokens: tokens, oauth: ForgeRockBench.oauth)
        _ = try await bench.forgeRock.send(path: "/json/users/ada")
        let bearers = bench.transport.received.map { $0.request.headerFields[.authorization] }
        #expect(bearers == ["Bearer A0", "Bearer A9"])
        #expect(await tokens.read().credentials.accessToken == "A9")
        #expect(!bench.events.words.contains { $0.hasPrefix("clear") })
    }

    @Test func theDeadlineHoldsWhileTheServerIsAskedAboutTheSession() async throws {
        let bench = try bench([], Credentials(ssoToken: "S1"), deadline: .seconds(10))
        let clock = bench.clock
        let silent = ScriptedTransport.Step.run { _ in
            clock.advance(by: .seconds(10))
            for await _ in AsyncStream<Never>.makeStream().stream {}
            throw CancellationError()
        }
        bench.transport.append([.status(401), silent])
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(path: "/json/x") }
        #expect(error?.reason == .deadlinePassed && error?.outcome.status == 401)
        #expect(try await bench.credentials.ssoToken == "S1")
        #expect(bench.transport.received.count == 2)
    }

    @Test func theServerIsAskedAboutTheSessionForTheCall() async throws {
        let bench = try bench([.status(401), .error(401, "Access Denied")], Credentials(ssoToken: "S1"))
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(path: "/json/x") }
        #expect(error?.kind == .reauthenticationRequired && error?.outcome.tokenAction == .clear)
        #expect(error?.history.steps.last == .repair(name: "settle_session", succeeded: false))
        #expect(attempts(bench) == [1, 2])
        #expect(bench.events.events.filter { $0.call == 2 }.allSatisfy { $0.parent == 1 })
        let cleared = bench.events.events.filter { $0.kind.words == "clear session" }
        #expect(cleared.map(\.call) == [2] && cleared.map(\.parent) == [1])
    }

    /// What must not be sent again is not, but a session that is over is over.
    @Test(arguments: [
        ScriptedTransport.Step.error(401, "Access Denied"), .status(401), .status(200, [:], body: #"{"valid":false}"#),
    ])
    func aSessionThatIsOverGoesWhateverBecomesOfTheCall(refusal: ScriptedTransport.Step) async throws {
        let bench = try bench([refusal, .error(401, "Access Denied")], Credentials(ssoToken: "S1"))
        let body = MessageBody(
            once: AsyncStream { continuation in
                continuation.yield(Array("x".utf8)[...])
                continuation.finish()
            }
        )
        let path = "/json/realms/root/realms/alpha/sessions?_action=validate"
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.forgeRock.send(.post, path: path, body: ProviderRequest.Content(body))
        }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(try await bench.credentials == Credentials())
    }

    /// Whether the session lives is asked within the call and its bounds, where the request must not be replayed too.
    @Test func whatIsAskedAboutARefusalKeepsToTheCallsDeadline() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(
            [
                .run { [clock] _ in
                    clock.advance(by: .seconds(9))
                    return .scripted(401)
                }
            ],
            then: .status(503, ["retry-after": "8"])
        )
        let runtime = Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: 1))
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Deadline(.seconds(10))
            Recovery()
        }
        let events = EventRecorder(runtime.events)
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: client,
            tokens: InMemoryTokenStore(Credentials(ssoToken: "S1")),
            configuration: ForgeRockConfiguration(realm: "alpha", journey: "Login", cookieName: "sso")
        )
        let body = MessageBody(
            once: AsyncStream { continuation in
                continuation.yield(Array("x".utf8)[...])
                continuation.finish()
            }
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await clock.skippingWaits {
                try await forgeRock.send(.post, path: "/json/pay", body: ProviderRequest.Content(body))
            }
        }
        #expect(error?.kind == .credentialRejected)
        #expect(clock.now.offset <= .seconds(10))
        #expect(transport.received.count(where: { $0.request.path?.contains("/pay") == true }) == 1)
        #expect(events.events.allSatisfy { $0.call == 1 || $0.parent == 1 })
        let numbers = Set(events.events.map(\.call))
        #expect(events.words.count(where: { $0.hasPrefix("done") }) == numbers.count, "each has its end")
    }

    /// The second send is a call of the same work, with a time of its own.
    @Test func aPersonMayTakeLongerThanACall() async throws {
        let bench = try bench(
            [
                Self.advised, .session(of: "ada"), .step(AM.code), .success("S2"), .session(of: "ada"),
                .status(200, [:], body: "{}"),
            ],
            Credentials(ssoToken: "S1"),
            deadline: .seconds(10)
        )
        let person = Slow(bench.clock)
        let response = try await bench.forgeRock.send(path: "/json/pay", answering: person)
        #expect(response.status == .ok)
        #expect(bench.transport.received.last?.request.path == "/am/json/pay?_txid=tx-1")
        let numbers = attempts(bench)
        #expect(Set(numbers).count == 1, "one operation, the sign-in with it")
        let ends = bench.events.events.filter { $0.call == numbers.first && $0.kind.words.hasPrefix("done") }
        #expect(ends.map(\.kind.words) == ["done ok 6"])
        #expect(!bench.events.words.contains { $0.hasPrefix("giving_up") })
    }

    @Test func anAdviceThatComesAgainIsNotFollowedAgain() async throws {
        let bench = try bench(
            [
                Self.advised, .session(of: "ada"), .success("S2"), .session(of: "ada"), Self.advised,
                .session(of: "ada"), .success("S3"), .session(of: "ada"), .status(200),
            ],
            Credentials(ssoToken: "S1")
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.forgeRock.send(path: "/json/pay", answering: Person())
        }
        #expect(error?.kind == .stepUpRequired)
        #expect(bench.transport.received.count == 5)
    }

    /// Somebody else who answers does not get the first person's request sent, and is not signed in by it.
    @Test func nobodyElseGetsThrough() async throws {
        let step = ScriptedTransport.Step.run { received in
            let path = received.request.path ?? ""
            let isFirst = received.request.headerFields[.cookie]?.contains("sso=S1") == true
            if path.contains("getSessionInfo") {
                let name = isFirst ? "ada" : "bob"
                return .scripted(200, [:], body: #"{"universalId":"id=\#(name)","realm":"/alpha"}"#)
            }
            if path.contains("/authenticate") {
                return .scripted(200, [:], body: #"{"tokenId":"S2","successUrl":"/x","realm":"/alpha"}"#)
            }
            guard path.hasSuffix("/pay") else { return .scripted(200, [:], body: #"{"result":"x"}"#) }
            let advice = "SSOADVICE realm=\"/\",advices=\"\(Base64Text.encode(PolicyAdviceTests.json))\""
            return .scripted(401, ["www-authenticate": advice])
        }
        let bench = try bench(Array(repeating: step, count: 9), Credentials(ssoToken: "S1"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.forgeRock.send(
                .post,
                path: "/json/pay",
                body: ProviderRequest.Content(MessageBody("amount=1")),
                answering: Person()
            )
        }
        #expect(error?.reason == .identityChanged)
        #expect(bench.transport.received.count { $0.request.path?.contains("/pay") == true } == 1)
        #expect(try await bench.credentials == Credentials(ssoToken: "S1"))
        // The session that nobody wanted is over.
        #expect(bench.sent.last == "sessions?_action=logout")
        #expect(bench.transport.received.last?.request.headerFields[.cookie] == "sso=S2")
    }
}

/// A person who takes a minute for each answer.
private struct Slow: ChallengeResponder {
    let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        clock.advance(by: .seconds(60))
        return .text("1")
    }
}
