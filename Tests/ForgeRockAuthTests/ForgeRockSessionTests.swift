import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

extension ScriptedTransport.Step {
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
