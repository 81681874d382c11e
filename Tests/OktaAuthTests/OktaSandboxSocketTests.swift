import AuthRecovery
import CurlTransport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing

@testable import AuthSandbox

/// Against an org on the identity engine that behaves like one and fails on purpose, over real sockets.
@Suite("Okta's identity engine at the sandbox", .timeLimit(.minutes(10)))
struct OktaSandboxSocketTests {
    private static let name = "eva@example.com"

    /// What one test works with.
    struct Line {
        let sandbox: AuthSandbox
        let clock: ManualClock
        let client: RecoveringClient
        let okta: Okta

        func signIn(
            _ person: some ChallengeResponder,
            identifier: String? = OktaSandboxSocketTests.name,
            password: Secret? = "right"
        ) async throws {
            _ = try await clock.skippingWaits {
                try await okta.signIn(identifier: identifier, password: password, answering: person)
            }
        }

        /// How many requests have come for a path below the engine's.
        func count(_ step: String) -> Int { sandbox.requests().count { $0.path == "/idp/idx/\(step)" } }
    }

    static func run(
        factors: [SandboxOktaUser.Factor] = [],
        scope: String? = nil,
        settings: (inout SandboxSettings) -> Void = { _ in },
        _ body: (Line) async throws -> Void
    ) async throws {
        var person = SandboxUser(email: name, password: "right")
        person.okta.factors = factors
        var scenario = SandboxScenario.unlimited
        scenario.users = [person]
        scenario.settings.okta.isIdentityEngine = true
        settings(&scenario.settings)
        // The sandbox's clock stands still where the client's begins: however busy the machine is, nothing runs out there.
        let begin = Timestamp(secondsSinceEpoch: Int64(time(nil)))
        let sandbox = try await AuthSandbox.start(scenario: scenario, now: { begin })
        defer { sandbox.stop() }
        let transport = CurlTransport()
        let clock = ManualClock()
        let time = clock.timeSource(wallTime: begin)
        let client = RecoveringClient(transport: PatientTransport(transport), runtime: Runtime(time: time)) {
            Recovery {
                RateLimitBackoff()
                TransientRetry()
            }
        }
        var app = OktaApp(clientID: "cli", redirectURI: "com.example.cli:/callback")
        if let scope { app.scope = scope }
        let line = Line(
            sandbox: sandbox,
            clock: clock,
            client: client,
            okta: try Okta(
                org: sandbox.url,
                client: client,
                tokens: InMemoryTokenStore(),
                configuration: OktaConfiguration(app: app)
            )
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(line))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        try result.get()
    }

    /// Somebody with a browser: they open what they are shown, and bring back where it has led.
    private struct Visitor: ChallengeResponder {
        let line: Line
        let person: Person

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            guard challenge.key == .redirect, let url = challenge.url else { return try await person.answer(challenge) }
            let page = try HTTPRequest(url: url.reveal())
            let answer = try await line.client.send(page, options: RequestOptions(followsRedirects: false))
            return .text(Secret(try #require(answer.headerFields[.location])))
        }

        func choose(among factors: [Factor]) async throws -> Factor? { try await person.choose(among: factors) }
    }

    // MARK: Other providers

    @Test(arguments: ["only", "beside"])
    func anotherProviderIsVisited(place: String) async throws {
        let settings = { (settings: inout SandboxSettings) in
            (settings.okta.identityProvider, settings.okta.providerUser) = (place, Self.name)
            settings.okta.identifiesWithPassword = true
        }
        try await Self.run(settings: settings) { line in
            let person = Person([.password: [.useAnotherFactor]], choosing: "OIDC")
            try await line.signIn(Visitor(line: line, person: person), password: nil)
            #expect(try await line.okta.session() != nil)
            #expect(line.sandbox.requests().count { $0.path.hasPrefix("/sso/idps/") } == 1)
            #expect(person.keys == (place == "only" ? [] : [.password]) && line.count("challenge/answer") == 0)
        }
    }

    /// What the provider has proved may not be enough: the sign-in goes on with a factor.
    @Test func anotherProviderMayNotBeEnough() async throws {
        let settings = { (settings: inout SandboxSettings) in
            (settings.okta.identityProvider, settings.okta.providerUser) = ("only", Self.name)
        }
        try await Self.run(factors: [.init("question")], settings: settings) { line in
            let answer = SandboxOktaUser.Factor("question").answer
            let person = Person([.securityAnswer: Secret(answer)])
            try await line.signIn(Visitor(line: line, person: person), identifier: nil, password: nil)
            #expect(person.keys == [.securityAnswer] && line.count("challenge/answer") == 1)
        }
    }

    @Test func whoIsNotKnownAtTheProviderIsTold() async throws {
        let settings = { (settings: inout SandboxSettings) in settings.okta.identityProvider = "only" }
        try await Self.run(settings: settings) { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.signIn(Visitor(line: line, person: Person()), identifier: nil, password: nil)
            }
            #expect(error?.outcome.code == "access_denied")
            #expect(error?.outcome.message == "The person is not known here.")
        }
    }

    /// A smart card is read by a page like any other provider's, and the person is told that they need it.
    @Test func aSmartCardIsAPageToo() async throws {
        let settings = { (settings: inout SandboxSettings) in
            settings.okta.identityProvider = "only"
            (settings.okta.providerType, settings.okta.providerUser) = ("X509", Self.name)
        }
        try await Self.run(settings: settings) { line in
            let person = Person()
            let error = await #expect(throws: Challenge.NoAnswer.self) {
                try await line.signIn(person, identifier: nil, password: nil)
            }
            let question = try #require(person.questions.first)
            #expect(error?.key == .redirect && question.prompt?.contains("smart card") == true)
            #expect(question.url?.reveal().hasPrefix(line.sandbox.url + "/sso/idps/") == true)
            try await line.signIn(Visitor(line: line, person: Person()), identifier: nil, password: nil)
        }
    }

    // MARK: Captchas

    private static func captcha(_ settings: inout SandboxSettings) { settings.okta.wantsCaptcha = true }

    /// The proof goes along with what was typed before; one that is refused is asked for again, and a password with it.
    @Test(arguments: [true, false])
    func aCaptchaIsAskedFor(together: Bool) async throws {
        let settings = { (settings: inout SandboxSettings) in
            Self.captcha(&settings)
            settings.okta.identifiesWithPassword = together
        }
        try await Self.run(settings: settings) { line in
            let person = Person([
                .captcha: [.text("wrong"), .text("solved")], .password: [.text("right"), .text("right")],
            ])
            try await line.signIn(person, password: together ? nil : "right")
            #expect(person.keys == (together ? [.password, .captcha, .captcha, .password] : [.captcha, .captcha]))
            let question = try #require(person.questions.first { $0.key == .captcha })
            let told = try JSONValue(parsing: question.hint ?? "")
            #expect(told["siteKey"]?.string == "sandbox-key" && question.factor.providerName == "HCAPTCHA")
            let again = try #require(person.questions.last { $0.key == .captcha })
            #expect(again.previousFailure?.kind == .challengeIncorrect)
            #expect(line.count("identify") == 2)
        }
    }

    /// The proof is good once: after a wrong password another is asked for.
    @Test func aWrongPasswordWantsAnotherProof() async throws {
        let settings = { (settings: inout SandboxSettings) in
            Self.captcha(&settings)
            settings.okta.identifiesWithPassword = true
        }
        try await Self.run(settings: settings) { line in
            let person = Person([.captcha: [.text("one"), .text("two")], .password: [.text("right")]])
            try await line.signIn(person, password: "mistyped")
            #expect(person.keys == [.captcha, .captcha, .password])
        }
    }

    @Test func aCaptchaThatNobodySolvesIsNamed() async throws {
        try await Self.run(settings: Self.captcha) { line in
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn(Person()) }
            #expect(error?.kind == .challengeRequired && error?.remedies == [.solveChallenge])
            #expect(error?.outcome.details?["siteKey"] == "sandbox-key" && line.count("identify") == 0)
        }
    }

    // MARK: Consent

    /// Scopes are given one by one, by their names; the tokens are for no more.
    @Test(arguments: [("yes", "openid offline_access email"), ("email", "openid email")])
    func scopesAreGivenOneByOne(answer: String, scope: String) async throws {
        let settings = { (settings: inout SandboxSettings) in
            (settings.okta.asksConsent, settings.okta.isConsentGranular) = (true, true)
        }
        try await Self.run(scope: "openid offline_access email", settings: settings) { line in
            let person = Person([.text: [.text("profile"), .text(Secret(answer))]])
            try await line.signIn(person)
            let hint = "yes, no, or the names of what you allow: offline_access, email"
            #expect(person.questions.map(\.hint) == [hint, hint])
            #expect(person.keys == [.text, .text] && line.count("consent") == 1)
            let granted = line.sandbox.withWorld { $0.oauth.families.values.map(\.grant.scope) }
            #expect(granted == [scope.split(separator: " ").map(String.init)])
        }
    }

    // MARK: Faults

    @Test(arguments: ["other_audience", "other_nonce"])
    func aForeignIDTokenIsRefused(fault: String) async throws {
        let settings = { (settings: inout SandboxSettings) in settings.oauth.idTokenFault = fault }
        try await Self.run(settings: settings) { line in
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn(Person()) }
            let name = fault == "other_audience" ? "audience" : "nonce"
            #expect(error?.kind == .invalidRequest && error?.outcome.code == "\(name)_mismatch")
            #expect(error?.outcome.message == "The ID token's \(name) is not what it has to be.")
            #expect(try await line.okta.session() == nil)
            line.sandbox.updateSettings { $0.oauth.idTokenFault = "none" }
            try await line.signIn(Person())
        }
    }

    /// Opens the link of the newest mail: its address is the answer.
    private struct Mail: ChallengeResponder {
        let line: Line
        let asked = Locked<[Challenge]>([])

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            asked.withLock { $0.append(challenge) }
            return .text(Secret(line.sandbox.outbox(to: OktaSandboxSocketTests.name).last?.code ?? ""))
        }
    }

    @Test func theLinkOfAMailIsGoodForItsCode() async throws {
        let settings = { (settings: inout SandboxSettings) in settings.okta.emailLink = "own" }
        try await Self.run(factors: [.init("email")], settings: settings) { line in
            let mail = Mail(line: line)
            try await line.signIn(mail)
            #expect(line.sandbox.outbox().last?.code.hasPrefix("com.example.cli:/callback?otp=") == true)
            #expect(mail.asked.withLock { $0.map(\.key) } == [.emailCode])
        }
    }

    /// A link with the state of another sign-in is not this one's, and nothing of it is sent.
    @Test func theLinkOfAnotherSignInIsRefused() async throws {
        let settings = { (settings: inout SandboxSettings) in settings.okta.emailLink = "other_state" }
        try await Self.run(factors: [.init("email")], settings: settings) { line in
            let mail = Mail(line: line)
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn(mail) }
            #expect(error?.kind == .challengeIncorrect && error?.outcome.code == "state_mismatch")
            #expect(error?.outcome.userMessage == "This link belongs to another sign-in.")
            // One answer was the password's.
            #expect(line.count("challenge/answer") == 1)
            #expect(mail.asked.withLock { $0.last?.previousFailure?.parameter } == "state")
        }
    }
}
