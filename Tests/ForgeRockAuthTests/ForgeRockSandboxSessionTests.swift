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

    @Test func whatAPolicyAdvisesIsForTheSessionThatThereIs() async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("Login")
        let advice = PolicyAdvice([.init(name: "AuthenticateToServiceConditionAdvice", values: ["/alpha:StepUp"])])
        let person = bench.person([.password: [ForgeRockSandboxBench.password]])
        let none = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await forgeRock.signIn(.advice(advice), answering: person) }
        }
        #expect(none?.kind == .reauthenticationRequired && bench.steps == 0)
        _ = try await bench.signIn("Login", bench.person())
        let session = try await bench.clock.skippingWaits {
            try await forgeRock.signIn(.advice(advice), answering: person)
        }
        #expect(session.exists && person.keys == [.password])
        // The old one was made stronger, not ended by somebody who has replaced it.
        #expect(!bench.transport.received.contains { $0.request.path?.contains("_action=logout") == true })
        #expect(try await bench.clock.skippingWaits { try await forgeRock.send(path: "/ig/journey") }.status == .ok)
    }

    /// What PingOne says, and DaVinci around it.
    @Test(arguments: ["flows", "davinci/connections"])
    func aFlowOfPingOneSaysWhatIsWrongInItsInnermostWords(form: String) async throws {
        let bench = ForgeRockSandboxBench { settings in
            settings.lockout.threshold = 2
            settings.lockout.duration = 900_000
        } people: { users in
            for index in users.indices where users[index].emails.first == "grace@example.com" {
                users[index].passwordState = "reset_required"
            }
        }
        let url = "http://am.example.com/5f4c2d1e-0000-4000-8000-000000000001/\(form)/f1"
        func outcome(_ json: JSONValue) async throws -> Outcome {
            var request = try HTTPRequest(url: url)
            request.method = .post
            request.headerFields[.contentType] = "application/json"
            let options = RequestOptions(classifier: ForgeRockClassifier())
            do {
                let body = MessageBody(json.description)
                return try await bench.client.send(request, body: body, options: options).outcome
            } catch let error as RecoveryError {
                return error.outcome
            }
        }
        let password = JSONValue.string(ForgeRockSandboxBench.password.reveal())
        let expired = try await outcome(["username": "grace", "password": password])
        #expect(expired.kind == .passwordExpired && expired.remedies == [.changePassword])
        let rejected = try await outcome(["newPassword": "x"])
        #expect(rejected.kind == .passwordRejected && rejected.parameter == "newPassword")
        #expect(try await outcome(["newPassword": "quite-another-password-7"]).kind == .ok)
        #expect(try await outcome(["username": "nobody", "password": "x"]).kind == .notFound)
        let wrong = try await outcome(["username": "ada", "password": "x"])
        #expect(wrong.kind == .invalidCredentials && wrong.traceID != nil && wrong.tokenAction == .keep)
        let locked = try await outcome(["username": "ada", "password": "x"])
        #expect(locked.kind == .accountLocked && locked.lockout == .remaining(.seconds(900)))
        #expect(try await outcome(["username": "linus", "password": password]).kind == .ok)
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
