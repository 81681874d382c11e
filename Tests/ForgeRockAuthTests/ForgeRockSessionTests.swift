import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

extension ScriptedTransport.Step {
    /// The redirect with a code that answers the authorization request it gets; the code is the request's nonce.
    static let authorized = ScriptedTransport.Step.run { received in
        let form = FormFields(parsing: received.body)
        let (state, nonce) = (form["state"].last?.reveal() ?? "", form["nonce"].last?.reveal() ?? "")
        return .scripted(302, ["location": "org.app:/cb?code=\(nonce)&iss=x&state=\(state)&client_id=app"])
    }

    /// Tokens; for a code also an ID token with the nonce that the code is.
    static func tokens(_ access: String, refresh: String? = nil) -> ScriptedTransport.Step {
        .run { received in
            var more = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
            if let nonce = FormFields(parsing: received.body)["code"].last?.reveal() {
                more += #","id_token":"e30.\#(Base64.encodeForURL(#"{"nonce":"\#(nonce)"}"#.utf8)).s""#
            }
            let body = #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":3600\#(more)}"#
            return .scripted(200, body: body)
        }
    }

    static func oauth(_ status: Int, _ word: String) -> ScriptedTransport.Step {
        .status(status, [:], body: #"{"error":"\#(word)"}"#)
    }

    static let information = ScriptedTransport.Step.status(
        200,
        [:],
        body:
            #"{"username":"ada","universalId":"id=ada,ou=user","realm":"/alpha","latestAccessTime":"2030-01-01T00:00:00Z","maxIdleExpirationTime":"2030-01-01T00:30:00Z","maxSessionExpirationTime":"2030-01-01T02:00:00Z","properties":{"x":"y"}}"#
    )
}

@Suite struct ForgeRockSessionTests {
    private let held = Credentials(ssoToken: "S1")

    /// Who is limited is who presents.
    @Test func oneSessionsLimitHoldsNoOther() async throws {
        let bench = try ForgeRockBench(
            [.status(429, ["retry-after": "30"]), .status(200)],
            credentials: Credentials(ssoToken: "one")
        ) { Recovery {} }
        let other = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: InMemoryTokenStore(Credentials(ssoToken: "two")),
            configuration: ForgeRockConfiguration(realm: "alpha", cookieName: "sso")
        )
        for sent in [1, 1] {
            await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(path: "/json/users/x") }
            #expect(bench.transport.received.count == sent)
        }
        #expect(try await other.send(path: "/json/users/x").status == .ok)
    }

    @Test func theSessionIsReadWithoutExtendingIt() async throws {
        let bench = try ForgeRockBench([.information], credentials: held)
        let session = try await bench.forgeRock.session()
        #expect(session?.username == "ada" && session?.realm == "/alpha" && session?.properties["x"] == "y")
        #expect(session?.expiresAt == Timestamp(secondsSinceEpoch: 1_893_463_200))
        #expect(session?.idleExpiresAt == Timestamp(secondsSinceEpoch: 1_893_457_800))
        let request = bench.transport.received[0].request
        #expect(request.path == "/am/json/realms/root/realms/alpha/sessions?_action=getSessionInfo")
        #expect(request.headerFields[.cookie] == "sso=S1")
        #expect(request.headerFields[HTTPField.Name("sso")!] == "S1")
        let without = try ForgeRockBench()
        #expect(try await without.forgeRock.session() == nil)
        #expect(without.transport.received.isEmpty)
    }

    @Test func theCookiesNameComesFromTheServer() async throws {
        let bench = try ForgeRockBench(
            [.status(200, [:], body: #"{"cookieName":"a1b2"}"#), .information, .information],
            credentials: held,
            cookieName: nil
        )
        _ = try await bench.forgeRock.session()
        _ = try await bench.forgeRock.session()
        #expect(bench.transport.received.map(\.request.path).first == "/am/json/serverinfo/*")
        #expect(bench.transport.received.count == 3)
        #expect(bench.transport.received[1].request.headerFields[.cookie] == "a1b2=S1")
        let hidden = try ForgeRockBench([.error(403, "Forbidden"), .information], credentials: held, cookieName: nil)
        _ = try await hidden.forgeRock.session()
        #expect(hidden.transport.received[1].request.headerFields[.cookie] == "iPlanetDirectoryPro=S1")
        let down = try ForgeRockBench([.status(500), .status(500), .status(500)], credentials: held, cookieName: nil)
        await #expect(throws: RecoveryError.self) {
            try await down.skippingWaits { try await down.forgeRock.session() }
        }
        #expect(try await down.credentials == held)
    }

    @Test(arguments: [
        (401, Exchanged.error(401, "Access Denied")), (200, #"{"valid":false}"#),
    ])
    func aDeadSessionIsForgottenAndNothingElse(status: Int, body: String) async throws {
        let all = Credentials(accessToken: "A1", refreshToken: "R1", ssoToken: "S1")
        let bench = try ForgeRockBench([.status(status, [:], body: body)], credentials: all)
        #expect(try await bench.forgeRock.session() == nil)
        #expect(try await bench.credentials == Credentials(accessToken: "A1", refreshToken: "R1"))
        #expect(bench.events.words.contains("clear session"))
    }

    @Test func signingOutEndsTheSession() async throws {
        let gone: [ScriptedTransport.Step] = [
            .status(200, [:], body: #"{"result":"Successfully logged out"}"#),
            .status(200, [:], body: #"{"result":"Token has expired"}"#), .error(401, "Access Denied"), .status(204),
        ]
        for step in gone {
            let bench = try ForgeRockBench([step], credentials: held)
            try await bench.forgeRock.signOut()
            #expect(try await bench.credentials == Credentials())
            #expect(bench.sent == ["sessions?_action=logout"])
            #expect(
                bench.transport.received[0].request.headerFields[HTTPField.Name("accept-api-version")!]
                    == "resource=3.1,protocol=1.0"
            )
        }
        let down = try ForgeRockBench([], credentials: held)
        await #expect(throws: RecoveryError.self) { try await down.forgeRock.signOut() }
        #expect(try await down.credentials == held)
    }

    /// The session ends all the same, and what could not be revoked is told and kept for another try.
    @Test func aClientThatIsSetUpWronglyKeepsNobodySignedIn() async throws {
        let all = Credentials(accessToken: "A1", refreshToken: "R1", ssoToken: "S1")
        let bench = try ForgeRockBench(
            [
                .status(401, [:], body: #"{"error":"invalid_client"}"#),
                .status(200, [:], body: #"{"result":"Successfully logged out"}"#),
            ],
            credentials: all,
            oauth: ForgeRockBench.oauth
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.signOut() }
        #expect(error?.kind == .misconfigured)
        #expect(bench.sent.last == "sessions?_action=logout")
        #expect(try await bench.credentials == Credentials(accessToken: "A1", refreshToken: "R1"))
    }

    @Test func signingOutRevokesTheTokensFirst() async throws {
        let all = Credentials(accessToken: "A1", refreshToken: "R1", ssoToken: "S1")
        let bench = try ForgeRockBench(
            [.status(200), .status(200, [:], body: #"{"result":"Successfully logged out"}"#)],
            credentials: all,
            oauth: ForgeRockBench.oauth
        )
        try await bench.forgeRock.signOut()
        #expect(bench.form(0)["token"] == "R1")
        #expect(try await bench.credentials == Credentials())
    }

    @Test func theSessionIsExtendedWhereThereIsNothingElseToRefresh() async throws {
        let bench = try ForgeRockBench(
            [.status(200, [:], body: #"{"uid":"ada"}"#), .error(401, "x")],
            credentials: held
        )
        try await bench.forgeRock.refresh()
        #expect(bench.sent == ["sessions?_action=refresh"])
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.refresh() }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(try await bench.credentials == Credentials())
    }
}

@Suite struct ForgeRockTokenTests {
    private func bench(
        _ steps: [ScriptedTransport.Step],
        _ credentials: Credentials = Credentials(ssoToken: "S1")
    ) throws -> ForgeRockBench {
        try ForgeRockBench(steps, credentials: credentials, oauth: ForgeRockBench.oauth)
    }

    @Test func theSessionIsExchangedForTokens() async throws {
        let bench = try bench([.authorized, .tokens("A1", refresh: "R1")])
        #expect(try await bench.forgeRock.accessToken() == "A1")
        let form = bench.form(0)
        #expect(form["decision"] == "allow" && form["csrf"] == "S1" && form["code_challenge_method"] == "S256")
        #expect(form["response_type"] == "code" && form["client_id"] == "app" && form["redirect_uri"] == "org.app:/cb")
        #expect(bench.transport.received[0].request.headerFields[.cookie] == "sso=S1")
        #expect(bench.form(1)["code"] == form["nonce"] && bench.form(1)["code_verifier"]?.isEmpty == false)
        let stored = try await bench.credentials
        #expect(stored.accessToken == "A1" && stored.refreshToken == "R1" && stored.ssoToken == "S1")
    }

    @Test func theRefreshTokenComesBeforeTheSession() async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1")
        let kept = try bench([.tokens("A1")], held)
        _ = try await kept.skippingPauses { try await kept.forgeRock.refresh() }
        #expect(kept.form(0)["refresh_token"] == "R0")
        #expect(try await kept.credentials.refreshToken == "R0")
        let dead = try bench([.oauth(400, "invalid_grant"), .authorized, .tokens("A1", refresh: "R1")], held)
        _ = try await dead.skippingPauses { try await dead.forgeRock.refresh() }
        #expect(dead.transport.received.count == 3)
        #expect(try await dead.credentials.refreshToken == "R1")
    }

    @Test(arguments: [
        ScriptedTransport.Step.status(503), .status(500), .status(502, [:], body: "<html>"), .status(429),
        .oauth(400, "server_error"), .oauth(401, "invalid_client"), .oauth(400, "unauthorized_client"),
        .oauth(400, "invalid_scope"), .status(408), .fail(.connectionLost, .unknown), .status(200, [:], body: "<html>"),
        .status(200, [:], body: ""),
    ])
    func nothingThatIsNoDefiniteNoSignsAnybodyOut(step: ScriptedTransport.Step) async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1")
        for before in [
            [], [ScriptedTransport.Step.oauth(400, "invalid_grant")], [.oauth(400, "invalid_grant"), .authorized],
        ] {
            let bench = try ForgeRockBench(
                before + Array(repeating: step, count: 12),
                credentials: held,
                oauth: ForgeRockBench.oauth
            )
            await #expect(throws: RecoveryError.self) {
                try await bench.skippingPauses { try await bench.forgeRock.refresh() }
            }
            // That an answer was lost is noted beside them.
            var present = try await bench.credentials
            present.renewalBeganAt = nil
            #expect(present == held)
        }
    }

    @Test func aSessionThatIsDeadTooMeansSigningIn() async throws {
        let held = Credentials(refreshToken: "R0", ssoToken: "S1")
        let steps: [[ScriptedTransport.Step]] = [
            [.error(401, "Access Denied")],
            [.status(302, ["location": "https://id.example.com/am/?goto=x"]), .error(401, "Access Denied")],
            [
                .status(302, ["location": "org.app:/cb?error=login_required&state=x"]),
                .status(200, [:], body: #"{"valid":false}"#),
            ],
        ]
        for rest in steps {
            let bench = try bench([.oauth(400, "invalid_grant")] + rest, held)
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.skippingPauses { try await bench.forgeRock.refresh() }
            }
            #expect(error?.kind == .reauthenticationRequired)
            #expect(try await bench.credentials.ssoToken == nil)
        }
        // A session that lives and is not enough stays.
        let alive = try bench(
            [.status(302, ["location": "https://id.example.com/am/?goto=x"]), .information],
            Credentials(ssoToken: "S1")
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await alive.skippingPauses { try await alive.forgeRock.refresh() }
        }
        #expect(error?.kind == .userActionRequired)
        #expect(try await alive.credentials.ssoToken == "S1")
    }

    @Test func anAnswerToAnotherRequestIsNotTaken() async throws {
        let bench = try bench([.status(302, ["location": "org.app:/cb?code=evil&state=other"])])
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.accessToken() }
        #expect(error?.outcome.code == "state_mismatch")
        #expect(bench.transport.received.count == 1)
    }

    @Test func anAccessTokenThatIsRefusedIsRenewedOnceAndTheRequestReplayedOnce() async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1")
        let bench = try bench([.oauth(401, "invalid_token"), .tokens("A1"), .status(200, [:], body: "{}")], held)
        _ = try await bench.forgeRock.send(path: "/json/users/ada")
        let bearers = bench.transport.received.map { $0.request.headerFields[.authorization] }
        #expect(bearers == ["Bearer A0", nil, "Bearer A1"])
        let twice = try ForgeRockBench(
            [.oauth(401, "invalid_token"), .tokens("A1"), .oauth(401, "invalid_token")],
            credentials: held,
            oauth: ForgeRockBench.oauth
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await twice.forgeRock.send(path: "/json/users/ada")
        }
        #expect(error?.kind == .credentialRejected)
        #expect(twice.transport.received.count == 3)
    }

    @Test func aNewSessionTakesTheOldTokensWithIt() async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S0")
        let bench = try ForgeRockBench([.login, .success("S1")], credentials: held)
        _ = try await bench.signIn()
        #expect(try await bench.credentials == Credentials(ssoToken: "S1"))
    }

    @Test func theClaimsAreRead() async throws {
        let bench = try bench(
            [.status(200, [:], body: #"{"sub":"ada"}"#)],
            Credentials(accessToken: "A1", ssoToken: "S1")
        )
        #expect(try await bench.forgeRock.userInfo()["sub"] == "ada")
        #expect(bench.transport.received[0].request.path == "/am/oauth2/realms/root/realms/alpha/userinfo")
        #expect(bench.transport.received[0].request.headerFields[.cookie] == nil)
    }
}

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
