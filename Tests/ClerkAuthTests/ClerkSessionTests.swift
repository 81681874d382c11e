import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The client, its sessions, requests of one's own, and signing out.
@Suite struct ClerkSessionTests {
    private static let signedIn = Credentials(accessToken: "a", clientToken: "T0", sessionID: "sess_1")
    private static let signedOut = Credentials(clientToken: "T0")

    private func bench(_ steps: ScriptedTransport.Step..., credentials: Credentials = signedIn) throws -> ClerkBench {
        try ClerkBench(steps, credentials: credentials) { Recovery(maxAttempts: 1) }
    }

    @Test func theClientIsFoundWhereverTheAnswerCarriesIt() async throws {
        let client = ClerkJSON.client(["sess_1"])
        for body in [
            #"{"response":\#(client),"client":null}"#, #"{"response":null,"client":\#(client)}"#,
            #"{"response":null,"meta":{"client":\#(client)}}"#, client,
        ] {
            let found = try await bench(.status(200, [:], body: body)).clerk.currentClient()
            #expect(found?.id == "client_1")
            #expect(found?.currentSession?.id == "sess_1")
        }
    }

    @Test func aServerThatKnowsNoClientSaysSo() async throws {
        let bench = try bench(.status(200, [:], body: #"{"response":null,"client":null}"#))
        #expect(try await bench.clerk.currentClient() == nil)
    }

    @Test(arguments: [
        "", "{}", "[]", "17", #"{"response":{}}"#, #"{"response":"x"}"#, "<html>", #"{"client":{"id":7}}"#,
    ])
    func anAnswerThatIsNoClientIsUnreadableAndClearsNothing(body: String) async throws {
        let bench = try bench(.status(200, [:], body: body), .status(200, [:], body: body))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.currentClient() }
        #expect(error?.kind == .unreadable)
        await #expect(throws: RecoveryError.self) { try await bench.clerk.session() }
        #expect(try await bench.credentials == Self.signedIn)
    }

    @Test func theSessionThatTheStoreNamesIsRead() async throws {
        let bench = try bench(.client(["sess_0", "sess_1", "sess_2"]))
        #expect(try await bench.clerk.session()?.id == "sess_1")
        #expect(try await bench.credentials == Self.signedIn)
    }

    @Test(arguments: [[], ["sess_2"]])
    func aSessionThatWasRevokedElsewhereIsRemovedAndTheClientTokenStays(sessions: [String]) async throws {
        let bench = try bench(.client(sessions))
        #expect(try await bench.clerk.session() == nil)
        #expect(try await bench.credentials == Self.signedOut)
        #expect(bench.events.words.suffix(2) == ["clear session", "done ok 1"])
        #expect(bench.events.events.suffix(2).allSatisfy { $0.call == 1 })
    }

    @Test(arguments: ["ended", "expired", "removed", "replaced", "revoked", "abandoned", "of_the_future"])
    func aSessionThatIsNotLiveIsGone(status: String) async throws {
        let bench = try bench(.client(["sess_1"], status: status))
        #expect(try await bench.clerk.session() == nil)
        #expect(try await bench.credentials == Self.signedOut)
    }

    @Test func aPendingSessionIsLive() async throws {
        let bench = try bench(.client(["sess_1"], status: "pending"))
        #expect(try await bench.clerk.session()?.status == .pending)
    }

    @Test(arguments: [Credentials(), Credentials(clientToken: "T0"), Credentials(sessionID: "sess_1")])
    func withoutASessionOrTokenNobodyIsAsked(credentials: Credentials) async throws {
        let bench = try bench(credentials: credentials)
        #expect(try await bench.clerk.session() == nil)
        #expect(bench.transport.received.isEmpty)
    }

    @Test func aSessionThatIsSignedInMeanwhileIsNotRemovedByALateAnswer() async throws {
        let tokens = InMemoryTokenStore(Self.signedIn)
        let bench = try ClerkBench(
            [
                .run { _ in
                    try await tokens.update { $0.sessionID = "sess_2" }
                    return .scripted(200, [:], body: #"{"response":null}"#)
                }
            ],
            tokens: tokens
        )
        #expect(try await bench.clerk.session() == nil)
        #expect(await tokens.read().credentials.sessionID == "sess_2")
        #expect(!bench.events.words.contains("clear session"))
    }

    // MARK: Requests of one's own

    @Test(arguments: [
        ("/v1/me", "/v1/me?_is_native=true&_clerk_session_id=sess_1"),
        ("me", "/v1/me?_is_native=true&_clerk_session_id=sess_1"),
        ("/me?x=1", "/v1/me?x=1&_is_native=true&_clerk_session_id=sess_1"),
        ("/v1/me/sessions/active#top", "/v1/me/sessions/active?_is_native=true&_clerk_session_id=sess_1"),
        ("/v1/menu", "/v1/menu?_is_native=true"), ("/v1/client", "/v1/client?_is_native=true"),
        ("/v1/environment?a=b", "/v1/environment?a=b&_is_native=true"), ("/v1beta", "/v1/v1beta?_is_native=true"),
    ])
    func pathsAboutTheUserNameTheSession(path: String, sent: String) async throws {
        let bench = try bench(.status(200, [:], body: #"{"response":null}"#))
        _ = try await bench.clerk.send(path: path)
        #expect(bench.transport.received.first?.request.path == sent)
    }

    @Test(arguments: ["authentication_invalid", "signed_out", "session_revoked", "session_expired"])
    func aSessionThatIsReallyOverIsRemovedAndThePersonHasToSignIn(code: String) async throws {
        let bench = try bench(.error(code, status: 401), .client([]))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.remedies == [.reauthenticate])
        #expect(error?.outcome.code == code)
        #expect(try await bench.credentials == Self.signedOut)
    }

    @Test func whereTheClientCannotBeReadTheFirstCodeStandsAndNothingIsCleared() async throws {
        for second in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .status(503), .status(200), .status(401),
        ] {
            let bench = try bench(.error("signed_out", status: 401), second)
            let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
            #expect(error?.outcome.code == "signed_out")
            #expect(try await bench.credentials == Self.signedIn)
        }
    }

    @Test func aMissingThingIsNotASessionThatIsOver() async throws {
        let bench = try bench(.error("resource_not_found", status: 404))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/things/7") }
        #expect(error?.kind == .notFound)
        #expect(bench.transport.received.count == 1)
    }

    @Test(arguments: [
        ("requires_captcha", 401, Outcome.Kind.challengeRequired), ("user_banned", 403, .accountBlocked),
        ("native_api_disabled", 400, .misconfigured),
    ])
    func whatIsNoEndOfTheSessionReadsNothing(code: String, status: Int, kind: Outcome.Kind) async throws {
        let bench = try bench(.error(code, status: status))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.kind == kind)
        #expect(bench.transport.received.count == 1)
        #expect(try await bench.credentials == Self.signedIn)
    }

    @Test func aRenewalForOtherTokensDoesNotStandInTheWay() async throws {
        let tokens = InMemoryTokenStore(Self.signedIn)
        let bench = try ClerkBench([.error("signed_out", status: 401), .client([])], tokens: tokens) {
            Recovery { SessionRenewal(tokens) }
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(await tokens.read().credentials == Self.signedOut)
    }

    // MARK: Signing out

    @Test func signingOutEndsAllSessionsAndKeepsTheClientToken() async throws {
        let bench = try bench(.status(200, [:], body: #"{"response":null,"client":null}"#))
        try await bench.clerk.signOut(sessionID: nil)
        #expect(bench.sent == ["DELETE /client/sessions"])
        #expect(try await bench.credentials == Self.signedOut)
        #expect(bench.events.words.suffix(2) == ["clear session", "done ok 1"])
    }

    /// A program that ends shuts its client down first, perhaps.
    @Test func signingOutAtAClientThatIsShutDownForgetsTheSession() async throws {
        let bench = try bench(.status(200))
        await bench.client.shutdown()
        let result = try await bench.clerk.signOut()
        #expect(bench.sent == [])
        #expect(try await bench.credentials.sessionID == nil)
        guard case .endedHere(let error) = result else { return #expect(Bool(false), "\(result)") }
        #expect(error.outcome.transportError?.code == .shutDown)
    }

    @Test func oneSessionIsRemovedByItsID() async throws {
        let ended = #"{"response":{"object":"session","id":"sess_1","status":"removed"},"client":null}"#
        let bench = try bench(.status(200, [:], body: ended))
        try await bench.clerk.signOut(sessionID: "sess_1")
        #expect(bench.sent == ["POST /client/sessions/sess_1/remove"])
        #expect(try await bench.credentials == Self.signedOut)
        let other = try self.bench(.status(200, [:], body: "{}"))
        try await other.clerk.signOut(sessionID: "sess_2")
        #expect(try await other.credentials == Self.signedIn, "another session than the one in use")
    }

    @Test(arguments: [
        ("resource_not_found", 404), ("signed_out", 401), ("authentication_invalid", 401), ("session_not_found", 401),
        ("client_not_found", 400),
    ])
    func whatIsGoneAlreadyIsSignedOut(code: String, status: Int) async throws {
        for sessionID in [nil, "sess_1"] {
            let bench = try bench(.error(code, status: status))
            try await bench.clerk.signOut(sessionID: sessionID)
            #expect(try await bench.credentials == Self.signedOut)
        }
    }

    @Test func whereTheServerCannotBeToldTheSessionStays() async throws {
        for step in [
            ScriptedTransport.Step.status(500), .status(503), .status(429),
            .status(404, [:], body: "<html>"), .error("native_api_disabled", status: 400),
        ] {
            let bench = try bench(step)
            await #expect(throws: RecoveryError.self) { try await bench.clerk.signOut() }
            #expect(try await bench.credentials == Self.signedIn)
        }
    }

    @Test(arguments: ["sess_1", nil])
    func withoutANetworkItIsFinishedHereAndTheServerIsToldLater(sessionID: String?) async throws {
        let offline = ScriptedTransport.Step.fail(.cannotConnect, .neverSent)
        let bench = try bench(offline)
        guard case .endedHere(let error) = try await bench.clerk.signOut(sessionID: sessionID) else {
            Issue.record("the server cannot know")
            return
        }
        #expect(error.isOffline)
        #expect(try await bench.clerk.session() == nil)
        let left = try await bench.credentials
        #expect(left.sessionID == nil && left.accessToken == nil && left.clientToken == "T0")
        // Still no network: the look at the client fails, and what is to be done is not forgotten.
        bench.transport.append([offline, offline])
        await #expect(throws: RecoveryError.self) { try await bench.clerk.currentClient() }
        let live = ScriptedTransport.Step.client(["sess_1"])
        bench.transport.append((sessionID == nil ? [live] : []) + [.status(200), .client([])])
        #expect(try await bench.clerk.sessions().isEmpty)
        #expect(bench.sent.suffix(2) == ["POST /client/sessions/sess_1/remove", "GET /client"])
        #expect(try await bench.credentials == Self.signedOut)
    }

    @Test func theNextLookAtTheSessionTellsTheServer() async throws {
        let bench = try bench(.fail(.cannotConnect, .neverSent), .status(200))
        try await bench.clerk.signOut(sessionID: "sess_1")
        #expect(try await bench.clerk.session() == nil)
        #expect(bench.sent == Array(repeating: "POST /client/sessions/sess_1/remove", count: 2))
        #expect(try await bench.credentials == Self.signedOut)
        // Once it knows, nobody is asked.
        #expect(try await bench.clerk.session() == nil)
        #expect(bench.transport.received.count == 2)
    }

    @Test(.timeLimit(.minutes(30)))
    func whoeverIsCancelledMeanwhileIsToldSo() async throws {
        let gate = Latch()
        let bench = try bench(
            .fail(.cannotConnect, .neverSent),
            .run { _ in
                await gate.wait()
                try Task.checkCancellation()
                return .scripted(200, [:], body: "")
            }
        )
        try await bench.clerk.signOut(sessionID: "sess_1")
        let look = Task { try await bench.clerk.session() }
        await bench.transport.waitForRequests(2)
        look.cancel()
        await gate.open()
        await #expect(throws: CancellationError.self) { try await look.value }
    }

    @Test func aSessionThatIsBegunAfterwardsIsNotEndedWithThem() async throws {
        let bench = try bench(.fail(.cannotResolve, .neverSent))
        try await bench.clerk.signOut(sessionID: nil)
        try await bench.tokens.update { $0.sessionID = "sess_2" }
        bench.transport.append([.client(["sess_1", "sess_2"]), .status(200), .client(["sess_2"])])
        #expect(try await bench.clerk.sessions().map(\.id) == ["sess_2"])
        #expect(bench.sent[2] == "POST /client/sessions/sess_1/remove")
        #expect(try await bench.credentials == Credentials(clientToken: "T0", sessionID: "sess_2"))
    }

    @Test func signingOutEndsTheSessionThatTheStoreNames() async throws {
        let bench = try bench(.status(200))
        try await bench.clerk.signOut()
        #expect(bench.sent == ["POST /client/sessions/sess_1/remove"])
        try await bench.clerk.signOut()
        #expect(bench.transport.received.count == 1, "there is none any more")
    }

    @Test func anEndThatTheServerTellsTooIsAnEnd() async throws {
        let bench = try bench(.status(200))
        guard case .ended = try await bench.clerk.signOut() else {
            Issue.record("the server knows")
            return
        }
    }

    // MARK: Several sessions

    @Test func theLiveSessionsAreListedAndAnotherOneIsChosen() async throws {
        let session = #"{"response":{"object":"session","id":"sess_2","status":"active"},"client":null}"#
        let bench = try bench(.client(["sess_1", "sess_2"]), .status(200, [:], body: session))
        #expect(try await bench.clerk.sessions().map(\.id) == ["sess_1", "sess_2"])
        #expect(try await bench.clerk.activate(sessionID: "sess_2").id == "sess_2")
        #expect(bench.sent.last == "POST /client/sessions/sess_2/touch intent=select_session")
        #expect(try await bench.credentials == Credentials(clientToken: "T0", sessionID: "sess_2"))
    }

    @Test func anOrganizationIsChosenAndTokensOfAnotherOneGo() async throws {
        let session = #"{"response":{"object":"session","id":"sess_1","status":"active"},"client":null}"#
        let bench = try bench(.token(1), .status(200, [:], body: session), .token(2))
        _ = try await bench.clerk.sessionToken()
        try await bench.clerk.activate(sessionID: "sess_1", organizationID: "org_1")
        #expect(bench.sent.last?.hasSuffix("touch intent=select_org&active_organization_id=org_1") == true)
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(2))
    }

    @Test func aSessionThatIsGoneCannotBeChosen() async throws {
        let bench = try bench(.error("resource_not_found", status: 404), .client(["sess_1"]))
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.activate(sessionID: "sess_2") }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(try await bench.credentials == Self.signedIn)
    }

    @Test func aLostAnswerToASignOutIsAskedForAgain() async throws {
        for sessionID in [nil, "sess_1"] {
            let bench = try ClerkBench(
                [.fail(.connectionLost, .unknown), .error("resource_not_found", status: 404)],
                credentials: Self.signedIn
            )
            try await bench.skippingWaits { _ = try await bench.clerk.signOut(sessionID: sessionID) }
            #expect(bench.transport.received.count == 2)
            #expect(try await bench.credentials == Self.signedOut)
        }
    }

    @Test func withoutATokenThereIsNothingToTellTheServer() async throws {
        let bench = try bench(credentials: Credentials(sessionID: "sess_1"))
        try await bench.clerk.signOut()
        #expect(bench.transport.received.isEmpty)
        #expect(try await bench.credentials == Credentials())
    }

    @Test(arguments: [
        ("../../x?y=#z 1", "..%2F..%2Fx%3Fy%3D%23z%201"), ("..", "%2E%2E"), ("a+b", "a%2Bb"), ("sess_1", "sess_1"),
    ])
    func aSessionsNameCannotLeaveItsPath(id: String, encoded: String) async throws {
        let bench = try bench(.status(200))
        try await bench.clerk.signOut(sessionID: id)
        let path = try #require(bench.transport.received.first?.request.path)
        #expect(path == "/v1/client/sessions/\(encoded)/remove?_is_native=true")
    }
}
