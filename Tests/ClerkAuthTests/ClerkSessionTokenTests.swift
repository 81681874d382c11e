import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Session tokens: held, minted once, renewed before they expire.
@Suite struct ClerkSessionTokenTests {
    private static let signedIn = Credentials(clientToken: "T0", sessionID: "sess_1")

    private func bench(
        _ steps: ScriptedTransport.Step...,
        configuration: ClerkConfiguration = ClerkConfiguration()
    ) throws -> ClerkBench {
        try ClerkBench(steps, credentials: Self.signedIn, configuration: configuration)
    }

    @Test func aTokenIsMintedHeldAndMintedAgainBeforeItExpires() async throws {
        let bench = try bench(.token(1), .token(2, issuedAt: 50))
        let first = try await bench.clerk.sessionToken()
        #expect(first.jwt.reveal() == SessionJWT.of(1))
        #expect(first.sessionID == "sess_1" && first.template == nil)
        #expect(first.expiresAt == Timestamp(secondsSinceEpoch: SessionJWT.start + 60))
        bench.clock.advance(by: .milliseconds(49_900))
        #expect(try await bench.clerk.sessionToken() == first)
        #expect(bench.sent == ["POST /client/sessions/sess_1/tokens"])
        bench.clock.advance(by: .milliseconds(100))
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(2, issuedAt: 50))
        #expect(bench.transport.received.count == 2)
        #expect(try await bench.credentials == Self.signedIn, "session tokens are never stored")
    }

    @Test(arguments: [(0, 59.9), (10, 49.9), (60, 29.9), (600, 29.9), (-5, 59.9)])
    func theLeewayIsTheCallersWithinItsBounds(leeway: Int, seconds: Double) async throws {
        let bench = try bench(.token(1), .token(2, issuedAt: 60))
        _ = try await bench.clerk.sessionToken()
        bench.clock.advance(by: .seconds(seconds))
        _ = try await bench.clerk.sessionToken(leeway: .seconds(leeway))
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(0.2))
        _ = try await bench.clerk.sessionToken(leeway: .seconds(leeway))
        #expect(bench.transport.received.count == 2)
    }

    @Test func theServersClockDecidesWhatHasExpired() async throws {
        // The local clock is an hour ahead of the server's.
        let date = "Mon, 31 Dec 2029 23:00:00 GMT"
        let bench = try bench(.token(1, issuedAt: -3600, fields: ["date": date]))
        _ = try await bench.clerk.sessionToken()
        _ = try await bench.clerk.sessionToken()
        #expect(bench.transport.received.count == 1)
    }

    @Test func templatesAndOrganizationsHaveTokensOfTheirOwn() async throws {
        let bench = try bench(.token(1), .token(2), .token(3), .token(4))
        _ = try await bench.clerk.sessionToken()
        _ = try await bench.clerk.sessionToken(template: "hasura/../x")
        _ = try await bench.clerk.sessionToken(organizationID: "org_1")
        _ = try await bench.clerk.sessionToken(organizationID: "")
        for _ in 0..<2 {
            #expect(try await bench.clerk.sessionToken(organizationID: "org_1").jwt.reveal() == SessionJWT.of(3))
        }
        #expect(
            bench.sent == [
                "POST /client/sessions/sess_1/tokens", "POST /client/sessions/sess_1/tokens/hasura%2F..%2Fx",
                "POST /client/sessions/sess_1/tokens organization_id=org_1",
                "POST /client/sessions/sess_1/tokens organization_id=",
            ]
        )
    }

    @Test func anyNumberOfCallersMintOneToken() async throws {
        let gate = Latch()
        let bench = try bench(
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: SessionJWT.body(1))
            }
        )
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await bench.clerk.sessionToken().jwt.reveal() } }
            await bench.transport.waitForRequests(1)
            for _ in 0..<100 { await Task.yield() }
            await gate.open()
            for try await jwt in group { #expect(jwt == SessionJWT.of(1)) }
        }
        #expect(bench.transport.received.count == 1)
    }

    @Test(.timeLimit(.minutes(30)))
    func aWaitersCancellationIsItsOwn() async throws {
        let gate = Latch()
        let bench = try bench(
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: SessionJWT.body(1))
            }
        )
        let first = Task { try await bench.clerk.sessionToken() }
        await bench.transport.waitForRequests(1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await bench.clerk.sessionToken() }
        await gate.open()
        #expect(try await second.value.jwt.reveal() == SessionJWT.of(1))
        #expect(bench.transport.received.count == 1)
    }

    @Test func aFailureIsNotRemembered() async throws {
        let bench = try ClerkBench([.status(500), .token(1)], credentials: Self.signedIn) { Recovery(maxAttempts: 1) }
        await #expect(throws: RecoveryError.self) { try await bench.clerk.sessionToken() }
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(1))
    }

    @Test func whoSkipsTheCacheGetsANewOneThatOthersUse() async throws {
        let bench = try bench(.token(1), .token(2, issuedAt: 1))
        _ = try await bench.clerk.sessionToken()
        let second = try await bench.clerk.sessionToken(skippingCache: true)
        #expect(second.jwt.reveal() == SessionJWT.of(2, issuedAt: 1))
        #expect(try await bench.clerk.sessionToken() == second)
    }

    @Test func theFresherTokenIsKept() async throws {
        // The newer issue tells older data: `oiat` counts before `iat`.
        let bench = try bench(.token(1, issuedAt: 0, oiat: 100), .token(2, issuedAt: 5, oiat: 50))
        let first = try await bench.clerk.sessionToken()
        _ = try await bench.clerk.sessionToken(skippingCache: true)
        #expect(try await bench.clerk.sessionToken() == first)
    }

    @Test func aTokenThatIsOnItsWayWhenTheSessionEndsIsNotKept() async throws {
        let gate = Latch()
        let bench = try bench(
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: SessionJWT.body(1))
            },
            .status(200),
            .token(2)
        )
        let late = Task { try await bench.clerk.sessionToken() }
        await bench.transport.waitForRequests(1)
        try await bench.clerk.signOut(sessionID: "sess_1")
        await gate.open()
        _ = try await late.value
        try await bench.tokens.update { $0.sessionID = "sess_1" }
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(2))
    }

    @Test(arguments: [#"{"object":"token","jwt":""}"#, #"{"jwt":null}"#, "{}", ""])
    func anEmptyTokenIsAPassingFailure(body: String) async throws {
        let bench = try bench(.status(200, [:], body: body), .token(1))
        let token = try await bench.skippingWaits { try await bench.clerk.sessionToken() }
        #expect(token.jwt.reveal() == SessionJWT.of(1))
        let last = try ClerkBench([.status(200, [:], body: body)], credentials: Self.signedIn) {
            Recovery(maxAttempts: 1)
        }
        let error = await #expect(throws: RecoveryError.self) { try await last.clerk.sessionToken() }
        #expect(error?.kind == .unavailable)
        #expect(try await last.credentials == Self.signedIn)
    }

    @Test func anotherSessionsTokenIsNotTaken() async throws {
        let bench = try bench(.status(200, [:], body: SessionJWT.body(1, session: "sess_2")))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.sessionToken() }
        #expect(error?.kind == .unreadable)
    }

    @Test func aTokenInAFormThatIsNotKnownIsHandedOnAndNotHeld() async throws {
        let bench = try bench(
            .status(200, [:], body: #"{"jwt":"opaque"}"#),
            .status(200, [:], body: #"{"jwt":"opaque"}"#)
        )
        for _ in 0..<2 { #expect(try await bench.clerk.sessionToken().jwt == "opaque") }
        #expect(bench.transport.received.count == 2)
    }

    @Test func theTokenThatComesWithTheClientIsUsed() async throws {
        let bench = try bench(.status(200, [:], body: SessionJWT.client(1)))
        _ = try await bench.clerk.session()
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(1))
        #expect(bench.transport.received.count == 1)
    }

    // MARK: Without a session, without a network

    @Test func withoutASessionNobodyIsAsked() async throws {
        for credentials in [Credentials(), Credentials(clientToken: "T0"), Credentials(sessionID: "sess_1")] {
            let bench = try ClerkBench(credentials: credentials)
            let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.sessionToken() }
            #expect(error?.kind == .reauthenticationRequired)
            #expect(error?.isOffline == false)
            #expect(bench.transport.received.isEmpty)
        }
    }

    @Test func beingOfflineIsAnErrorOfItsOwn() async throws {
        for code in [TransportError.Code.cannotResolve, .cannotConnect] {
            let bench = try bench(.fail(code, .neverSent), .fail(code, .neverSent), .fail(code, .neverSent))
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.skippingWaits { try await bench.clerk.sessionToken() }
            }
            #expect(error?.isOffline == true && error?.kind == .transport)
            #expect(try await bench.credentials == Self.signedIn)
        }
        let lost = try ClerkBench([.fail(.connectionLost, .unknown)], credentials: Self.signedIn) {
            Recovery(maxAttempts: 1)
        }
        let error = await #expect(throws: RecoveryError.self) { try await lost.clerk.sessionToken() }
        #expect(error?.isOffline == false)
    }

    @Test func whereMintingFailsForNowATokenThatLivesStillServes() async throws {
        for failure in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .status(503), .status(429), .status(502),
        ] {
            let bench = try ClerkBench([.token(1), failure, failure], credentials: Self.signedIn) {
                Recovery(maxAttempts: 1)
            }
            let first = try await bench.clerk.sessionToken()
            bench.clock.advance(by: .seconds(55))
            #expect(try await bench.clerk.sessionToken() == first)
            bench.clock.advance(by: .seconds(5))
            await #expect(throws: RecoveryError.self) { try await bench.clerk.sessionToken() }
        }
    }

    @Test(arguments: [("session_revoked", 401), ("signed_out", 401), ("resource_not_found", 404)])
    func aSessionThatIsOverEndsInTheConclusionAndItsTokensGo(code: String, status: Int) async throws {
        let bench = try bench(.token(1), .error(code, status: status), .client([]))
        _ = try await bench.clerk.sessionToken()
        bench.clock.advance(by: .seconds(55))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.sessionToken() }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.outcome.code == code)
        #expect(try await bench.credentials == Credentials(clientToken: "T0"))
    }

    // MARK: The seed

    @Test func thePreviousTokenIsSentAlongOnceWhereItIsWanted() async throws {
        let bench = try bench(.token(1), .error("missing_expired_token"), .token(2, issuedAt: 60))
        _ = try await bench.clerk.sessionToken()
        bench.clock.advance(by: .seconds(60))
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(2, issuedAt: 60))
        let paths = bench.transport.received.map { $0.request.path ?? "" }
        #expect(!paths[1].contains("expired_token"))
        #expect(paths[2].hasSuffix("_is_native=true&expired_token=\(SessionJWT.of(1))"))
        #expect(!bench.events.words.contains { $0.contains(SessionJWT.of(1)) })
    }

    @Test func aProcessThatHoldsNoneReadsIt() async throws {
        let bench = try bench(
            .error("missing_expired_token"),
            .status(200, [:], body: SessionJWT.client(1, issuedAt: -90)),
            .token(2)
        )
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(2))
        #expect(bench.sent.map { $0.prefix(11) } == ["POST /clien", "GET /client", "POST /clien"])
        let path = bench.transport.received.last?.request.path ?? ""
        #expect(path.contains("expired_token=\(SessionJWT.of(1, issuedAt: -90))"))
    }

    @Test func itIsSentNoSecondTime() async throws {
        let refusal = ScriptedTransport.Step.error("missing_expired_token")
        let bench = try bench(.token(1), refusal, refusal)
        _ = try await bench.clerk.sessionToken()
        bench.clock.advance(by: .seconds(60))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.sessionToken() }
        #expect(error?.outcome.code == "missing_expired_token" && error?.reason == .alreadyRepaired)
        let none = try bench2(refusal, .client(["sess_1"]))
        await #expect(throws: RecoveryError.self) { try await none.clerk.sessionToken() }
        #expect(none.transport.received.count == 2)
    }

    private func bench2(_ steps: ScriptedTransport.Step...) throws -> ClerkBench {
        try ClerkBench(steps, credentials: Self.signedIn)
    }

    @Test func whoWantsItSendsThePreviousTokenFromTheBeginning() async throws {
        let bench = try bench(
            .token(1),
            .token(2, issuedAt: 60),
            configuration: ClerkConfiguration(sendsPreviousToken: true)
        )
        _ = try await bench.clerk.sessionToken()
        bench.clock.advance(by: .seconds(60))
        _ = try await bench.clerk.sessionToken()
        #expect(bench.sent.last == "POST /client/sessions/sess_1/tokens token=\(SessionJWT.of(1))")
    }

    // MARK: Renewing in the background

    @Test(.timeLimit(.minutes(30)))
    func tokensAreRenewedWellBeforeTheyExpire() async throws {
        let bench = try bench(.token(1), .token(2, issuedAt: 45), .token(3, issuedAt: 90))
        var iterator = bench.clerk.sessionTokens().makeAsyncIterator()
        for (number, seconds) in [(1, 0), (2, 45), (3, 90)] {
            let clock = bench.clock
            let mover = Task { try await clock.skippingWaits { await bench.transport.waitForRequests(number) } }
            let token = try await iterator.next()
            #expect(token?.jwt.reveal() == SessionJWT.of(number, issuedAt: seconds))
            try await mover.value
            #expect(bench.clock.now.offset >= .seconds(seconds))
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func afterAFailureItWaitsLongerAndASuccessResetsIt() async throws {
        let bench = try ClerkBench(
            Array(repeating: .status(500), count: 6) + [.token(1), .token(2, issuedAt: 10_000)],
            credentials: Self.signedIn
        ) { Recovery(maxAttempts: 1) }
        let stream = bench.clerk.sessionTokens()
        let clock = bench.clock
        let reader = Task {
            for try await _ in stream { return }
        }
        try await clock.skippingWaits { try await reader.value }
        let delays = clock.requestedDelays.prefix(6).map(\.inSeconds)
        for (delay, nominal) in zip(delays, [10.0, 20, 40, 60, 60, 60]) {
            #expect(delay >= nominal * 0.8 - 0.001 && delay <= nominal * 1.2 + 0.001)
        }
        #expect(Set(delays).count == 6, "the delays are drawn")
    }

    @Test(.timeLimit(.minutes(30)))
    func whoWatchesIsSeenUnderOneNumber() async throws {
        let bench = try bench(.status(500), .token(1), .error("session_revoked", status: 401), .client([]))
        let (events, told) = AsyncStream.makeStream(of: RecoveryEvent.self)
        bench.client.runtime.events.observe { told.yield($0) }
        let stream = bench.clerk.sessionTokens()
        await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { for try await _ in stream {} }
        }
        told.finish()
        let all = await events.reduce(into: []) { $0.append($1) }
        let number = try #require(
            all.first { if case .wait(.ok, _, _) = $0.kind { true } else { false } }?.call
        )
        let waits = all.filter { $0.call == number }.compactMap { event -> Outcome.Kind? in
            if case .wait(let reason, _, _) = event.kind { reason } else { nil }
        }
        #expect(waits.last == .ok && waits.allSatisfy { $0 == .ok || $0 == .unavailable })
        let ends = all.filter { $0.call == number }.compactMap { event -> RecoveryEvent.End? in
            if case .done(let end, _, _, _) = event.kind { end } else { nil }
        }
        #expect(ends == [.failed])
    }

    /// A watch may last for weeks: nobody who shuts down waits for it.
    @Test(.timeLimit(.minutes(30)))
    func aShutdownDoesNotWaitForWhoWatches() async throws {
        let bench = try bench(.token(1))
        let stream = bench.clerk.sessionTokens()
        var iterator = stream.makeAsyncIterator()
        _ = try await iterator.next()
        await bench.client.drain(within: .seconds(60))
        #expect(bench.clock.now.offset == .zero, "nothing was left to wait for")
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { for try await _ in stream {} }
        }
        #expect(error?.reason != nil)
    }

    @Test(.timeLimit(.minutes(30)))
    func itEndsWithTheSession() async throws {
        let bench = try bench(.token(1), .error("session_revoked", status: 401), .client([]))
        let stream = bench.clerk.sessionTokens()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { for try await _ in stream {} }
        }
        #expect(error?.kind == .reauthenticationRequired)
    }

    // MARK: An app's own backend

    @Test func aBackendIsShownTheSessionTokenAndRefusesItOnce() async throws {
        let bench = try bench(.token(1), .token(2, issuedAt: 1))
        let backend = ScriptedTransport([.status(200), .status(401), .status(200)])
        let tokens = TokenManager(store: InMemoryTokenStore(), renewer: ClerkTokenRenewer(bench.clerk))
        let client = RecoveringClient(transport: backend, runtime: bench.client.runtime) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }
        for _ in 0..<2 { _ = try await client.send(HTTPRequest(url: "https://api.example.com/x")) }
        let shown = backend.received.map { $0.request.headerFields[.authorization] ?? "" }
        let first = "Bearer \(SessionJWT.of(1))"
        #expect(shown == [first, first, "Bearer \(SessionJWT.of(2, issuedAt: 1))"])
    }
}
