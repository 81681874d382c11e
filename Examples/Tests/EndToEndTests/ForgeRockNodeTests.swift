import AuthRecovery
import AuthSandbox
import CurlTransport
import ForgeRockAuth
import HTTPRecovery
import HTTPTypes
import Locking
import Testing
import WebAuthnTesting

/// What PingAM's nodes want, from the library to the sandbox over real sockets.
@Suite("ForgeRock nodes", .timeLimit(.minutes(30)))
struct ForgeRockNodeTests {
    /// Somebody with a password, a mailbox, and a browser that goes where it is sent.
    private struct Visitor: ChallengeResponder {
        let sandbox: AuthSandbox
        let client: RecoveringClient
        let asked = Locked<[Challenge]>([])

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            asked.withLock { $0.append(challenge) }
            switch challenge.key {
            case .password: return .text("open-sesame-42")
            case .emailCode: return .text(Secret(sandbox.outbox(to: "ada@example.com").last?.code ?? ""))
            case .redirect:
                let page = try await client.send(
                    try HTTPRequest(url: challenge.url?.reveal() ?? ""),
                    options: RequestOptions(followsRedirects: false)
                )
                return .text(Secret(page.headerFields[.location] ?? ""))
            default: throw Challenge.NoAnswer(challenge.key)
            }
        }

        func show(_ challenge: Challenge) async { asked.withLock { $0.append(challenge) } }
    }

    private struct Setting {
        let sandbox: AuthSandbox
        let client: RecoveringClient
        let tokens = InMemoryTokenStore()

        func forgeRock(_ journey: String, _ change: (inout ForgeRockConfiguration) -> Void = { _ in }) throws
            -> ForgeRock
        {
            var configuration = ForgeRockConfiguration(realm: "alpha", journey: journey)
            change(&configuration)
            return try ForgeRock(baseURL: sandbox.url, client: client, tokens: tokens, configuration: configuration)
        }

        var person: Visitor { Visitor(sandbox: sandbox, client: client) }
        var counters: SandboxForgeRockCounters { sandbox.forgeRockCounters }
    }

    private func with(
        _ settings: (inout SandboxForgeRockSettings) -> Void = { _ in },
        _ body: (Setting) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario.unlimited
        settings(&scenario.settings.forgerock)
        let sandbox = try await AuthSandbox.start(scenario: scenario)
        defer { sandbox.stop() }
        let transport = CurlTransport()
        try await body(Setting(sandbox: sandbox, client: RecoveringClient(transport: transport) { Recovery() }))
        await transport.shutdown()
    }

    @Test(arguments: ["metadata", "old_metadata", "script"], ["", "localhost.example", "127.0.0.1"])
    func aCredentialIsMadeForWhomTheNodeNamesOrLeavesOpen(form: String, party: String) async throws {
        try await with {
            $0.webAuthnForm = form
            $0.relyingPartyID = party
        } _: { setting in
            let authenticator = SoftwareAuthenticator()
            for journey in ["WebAuthnRegistration", "WebAuthn"] {
                let forgeRock = try setting.forgeRock(journey) {
                    $0.authenticator = authenticator
                    $0.deviceName = "My :: key"
                }
                let session = try await forgeRock.signIn(nil, identifier: "ada", answering: setting.person)
                #expect(session.exists)
            }
            #expect(setting.counters.ceremonies == 2)
        }
    }

    @Test(arguments: ["Social", "SAML"])
    func aBrowserComesBackFromTheIdentityProvider(journey: String) async throws {
        try await with {
            $0.providerUser = "grace"
        } _: { setting in
            let person = setting.person
            let session = try await setting.forgeRock(journey).signIn(nil, answering: person)
            #expect(session.exists && person.asked.withLock { $0.map(\.key) } == [.redirect])
            #expect(try await setting.forgeRock(journey).session()?.username == "grace")
        }
    }

    @Test func devicesAreDescribedBoundAndSign() async throws {
        try await with { setting in
            let described = try await setting.forgeRock("DeviceProfile")
                .signIn(nil, identifier: "ada", answering: setting.person)
            #expect(described.exists)
            let bound = try await setting.forgeRock("DeviceBinding") { $0.deviceKeys = SoftwareDeviceKeys() }
                .signIn(nil, identifier: "ada", answering: setting.person)
            #expect(bound.exists)
            // Without keys a code by e-mail stands in for them.
            let person = setting.person
            _ = try await setting.forgeRock("DeviceBinding").signIn(nil, identifier: "ada", answering: person)
            #expect(person.asked.withLock { $0.map(\.key) } == [.password, .emailCode])
        }
    }

    @Test func whatNobodyKnowsEndsTheSignInByName() async throws {
        try await with { setting in
            let error = await #expect(throws: RecoveryError.self) {
                try await setting.forgeRock("Hologram").signIn(nil, identifier: "ada", answering: setting.person)
            }
            #expect(error?.kind == .challengeRequired && error?.outcome.parameter == "HologramCallback")
            #expect(setting.counters.steps == 1)
        }
    }

    @Test func thePhonesNumberIsShown() async throws {
        try await with {
            $0.pushNumber = "73"
            $0.pollWait = 50
        } _: { setting in
            let person = setting.person
            _ = try await setting.forgeRock("Push").signIn(nil, identifier: "ada", answering: person)
            #expect(person.asked.withLock { $0.compactMap(\.number) } == ["73"])
        }
    }

    @Test func aSessionIsMadeAtOnceThenStrongerThenReplacedThenEnded() async throws {
        try await with {
            $0.namePrompt = "Customer code"
        } _: { setting in
            let forgeRock = try setting.forgeRock("Login")
            _ = try await forgeRock.signIn(
                nil,
                with: JourneyOptions(presentsLoginAtOnce: true),
                identifier: "ada",
                password: "open-sesame-42",
                answering: setting.person
            )
            #expect(setting.counters.steps == 0 && setting.counters.sessions == 1)
            let first = await setting.tokens.read().credentials.ssoToken
            _ = try await forgeRock.signIn(
                .service("StepUp"),
                with: JourneyOptions(upgradesSession: true),
                answering: setting.person
            )
            let second = await setting.tokens.read().credentials.ssoToken
            #expect(first != second)
            #expect(try await forgeRock.session()?.username == "ada")
            _ = try await forgeRock.signIn(nil, identifier: "ada", answering: setting.person)
            // What was replaced is over.
            let old = try ForgeRock(
                baseURL: setting.sandbox.url,
                client: setting.client,
                tokens: InMemoryTokenStore(Credentials(ssoToken: second)),
                configuration: ForgeRockConfiguration(realm: "alpha")
            )
            #expect(try await old.session() == nil)
            #expect(try await forgeRock.session() != nil)
        }
    }

    @Test func signingOutEndsTheSessionByTheIDToken() async throws {
        try await with { setting in
            let forgeRock = try setting.forgeRock("Login") {
                $0.oauth = OAuthSettings(
                    clientID: "cli",
                    redirectURI: "http://127.0.0.1/callback",
                    scope: "openid profile"
                )
            }
            _ = try await forgeRock.signIn(nil, identifier: "ada", answering: setting.person)
            _ = try await forgeRock.accessToken()
            #expect(try await forgeRock.endSessionURL() != nil)
            try await forgeRock.signOut()
            let ended = setting.sandbox.requests(path: "/oauth2/realms/root/realms/alpha/connect/endSession")
            #expect(ended.map(\.status) == [204])
            #expect(await setting.tokens.read().credentials == Credentials())
        }
    }
}
