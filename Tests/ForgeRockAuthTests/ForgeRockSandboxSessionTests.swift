import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// How journeys begin, and what becomes of sessions, at a server that behaves as PingAM does.
@Suite("Sessions at the sandbox")
struct ForgeRockSandboxSessionTests {
    private static let oauth = OAuthSettings(
        clientID: "cli",
        redirectURI: "http://127.0.0.1/callback",
        scope: "openid profile",
        renewal: TokenManager.RenewalOptions(timeout: .seconds(1_000_000), lease: .seconds(1_000_000))
    )

    @Test(arguments: ["User Name", "Customer code", "Code name", "Postal code", "Member code or e-mail"])
    func aNameIsAName(prompt: String) async throws {
        let bench = ForgeRockSandboxBench { $0.namePrompt = prompt }
        let person = bench.person([.totp: ["123456"]])
        #expect(try await bench.signIn("Login", person).exists)
        #expect(person.questions.isEmpty && bench.counters.passwordAttempts == 1)
    }

    @Test func theJourneyAndItsOptionsAreTheCallers() async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("Login")
        // With its first request already.
        _ = try await bench.signIn("Login", bench.person(), with: JourneyOptions(presentsLoginAtOnce: true))
        #expect(bench.steps == 1 && bench.counters.sessions == 1)
        // Somebody who has a session is asked only if that is wanted.
        _ = try await bench.signIn("Login", bench.person(), with: JourneyOptions(forcesAuthentication: true))
        #expect(bench.counters.sessions == 2)
        let none = try await bench.signIn("Login", bench.person(), with: JourneyOptions(skipsSession: true))
        #expect(!none.exists && bench.counters.sessions == 2)
        // Another journey than the one that is set up.
        let person = bench.person()
        let session = try await bench.clock.skippingWaits {
            try await forgeRock.signIn(.service("OneTimeCode"), identifier: "ada", answering: person)
        }
        #expect(session.exists && person.keys == [.emailCode])
    }

    @Test func aSessionIsMadeStrongerAndANewOneEndsWhatItReplaces() async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("Login") { $0.oauth = Self.oauth }
        _ = try await bench.signIn("Login", bench.person())
        let first = try #require(await bench.tokens.read().credentials.ssoToken)
        let person = bench.person([.password: [ForgeRockSandboxBench.password]])
        _ = try await bench.clock.skippingWaits {
            try await forgeRock.signIn(
                .service("StepUp"),
                with: JourneyOptions(upgradesSession: true),
                answering: person
            )
        }
        let second = try #require(await bench.tokens.read().credentials.ssoToken)
        #expect(first != second)
        _ = try await bench.clock.skippingWaits { try await forgeRock.accessToken() }
        let refresh = try #require(await bench.tokens.read().credentials.refreshToken)
        _ = try await bench.clock.skippingWaits {
            try await forgeRock.signIn(
                .service("Login"),
                with: JourneyOptions(forcesAuthentication: true),
                identifier: "ada",
                password: ForgeRockSandboxBench.password,
                answering: bench.person()
            )
        }
        // What was replaced is over, at the server and here.
        #expect(await bench.tokens.read().credentials.refreshToken == nil)
        let old = try ForgeRock(
            baseURL: "http://am.example.com",
            client: bench.client,
            tokens: InMemoryTokenStore(Credentials(ssoToken: second)),
            configuration: ForgeRockConfiguration(realm: "alpha", cookieName: "iPlanetDirectoryPro")
        )
        #expect(try await old.session() == nil)
        #expect(try await forgeRock.session()?.username == "ada")
        let paths = bench.transport.received.map { $0.request.path ?? "" }
        #expect(paths.contains { $0.hasSuffix("/token/revoke") })
        #expect(!refresh.isEmpty)
    }

    @Test func signingOutEndsTheSessionByTheIDToken() async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("Login") { $0.oauth = Self.oauth }
        _ = try await bench.signIn("Login", bench.person())
        _ = try await bench.clock.skippingWaits { try await forgeRock.accessToken() }
        #expect(try await forgeRock.endSessionURL() != nil)
        _ = try await bench.clock.skippingWaits { try await forgeRock.signOut() }
        let paths = bench.transport.received.map { $0.request.path ?? "" }
        #expect(paths.contains { $0.contains("/connect/endSession?id_token_hint=") })
        #expect(await bench.tokens.read().credentials == Credentials())
        #expect(bench.liveSessions == 0)
    }

    @Test(arguments: [("nowhere", "Login", "realm"), ("alpha", "NoSuchJourney", nil)] as [(String, String, String?)])
    func aRealmOrAJourneyThatIsNotThereIsASetting(realm: String, journey: String, parameter: String?) async throws {
        let bench = ForgeRockSandboxBench()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn(journey, bench.person()) { $0.realm = realm }
        }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == parameter && bench.steps == 1)
    }

    /// An application that sends everybody to its page to sign in says nothing about the session.
    @Test func theWayToTheSignInKeepsASessionThatLives() async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("Login")
        _ = try await bench.signIn("Login", bench.person())
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await forgeRock.send(path: "/ig/portal") }
        }
        #expect(error?.kind == .credentialRejected && error?.outcome.credential == .session)
        #expect(await bench.tokens.read().credentials.ssoToken != nil)
        // One that is dead is removed.
        bench.endSessions()
        let dead = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await forgeRock.send(path: "/ig/portal") }
        }
        #expect(dead?.kind == .reauthenticationRequired)
        #expect(await bench.tokens.read().credentials.ssoToken == nil)
    }
}
