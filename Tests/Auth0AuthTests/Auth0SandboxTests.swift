import AuthRecovery
import AuthSandbox
import CurlTransport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

@testable import Auth0Auth

/// Against a server that behaves like a tenant and fails on purpose, over real sockets.
@Suite("Auth0 at the sandbox", .timeLimit(.minutes(10)))
struct Auth0SandboxTests {
    static let name = "ada@example.com"

    /// What one test works with.
    struct Line {
        let sandbox: AuthSandbox
        let clock: ManualClock
        let auth0: Auth0

        func signIn(_ person: Answers = Answers(), password: Secret = "right") async throws -> Auth0Session {
            try await clock.skippingWaits {
                try await auth0.signIn(identifier: Auth0SandboxTests.name, password: password, answering: person)
            }
        }
    }

    static func user(factors: [String]? = nil, backupCodes: [String] = []) -> SandboxUser {
        var user = SandboxUser(email: name, password: "right")
        user.phones = ["+12015550100"]
        user.auth0.factors = factors
        user.backupCodes = backupCodes
        return user
    }

    static func run(
        _ person: SandboxUser = user(),
        threshold: Int64 = 10,
        settings: SandboxAuth0Settings = SandboxAuth0Settings(),
        configuration: Auth0Configuration = Auth0Configuration(clientID: "cli"),
        _ body: (Line) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario.unlimited
        scenario.users = [person]
        scenario.settings.auth0 = settings
        scenario.settings.auth0.threshold = threshold
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
                LockoutWait(atMost: .seconds(3600))
                TransientRetry()
            }
        }
        let line = Line(
            sandbox: sandbox,
            clock: clock,
            auth0: try Auth0(
                tenant: sandbox.url + "/auth0",
                client: client,
                tokens: InMemoryTokenStore(),
                configuration: configuration
            )
        )
        do {
            try await body(line)
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
    }

    @Test func fromThePasswordToTheEnd() async throws {
        try await Self.run { line in
            _ = try await line.signIn()
            #expect(try await line.auth0.session()?.email == Self.name)
            try line.sandbox.endAuth0Tokens(of: Self.name, accessOnly: true)
            // The refused token is renewed, and the question asked again.
            #expect(try await line.auth0.session()?.email == Self.name)
            _ = try await line.auth0.refresh()
            #expect(line.sandbox.auth0Grants["refresh_token"] == 2)
            try await line.auth0.signOut()
            #expect(try await line.auth0.session() == nil)
        }
    }

    @Test func aCodeByTextMessage() async throws {
        try await Self.run(Self.user(factors: ["sms", "push"])) { line in
            let reader = Mailbox(line.sandbox, "+12015550100")
            _ = try await line.clock.skippingWaits {
                try await line.auth0.signIn(identifier: Self.name, password: "right", answering: reader)
            }
            #expect(line.sandbox.auth0Presentations.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func aRecoveryCode() async throws {
        try await Self.run(Self.user(backupCodes: ["FIRST"])) { line in
            let code = try #require(try await line.signIn(Answers([.backupCode: ["FIRST"]])).recoveryCode)
            _ = try await line.signIn(Answers([.backupCode: [code.reveal()]]))
        }
    }

    // MARK: What is granted

    static let realm = "Username-Password-Authentication"

    @Test func anAPIOfTheTenantsIsAskedFor() async throws {
        let configuration = Auth0Configuration(
            clientID: "cli",
            realm: Self.realm,
            audience: "https://api.example.com",
            scope: "openid profile email offline_access read:things"
        )
        try await Self.run(configuration: configuration) { line in
            _ = try await line.signIn()
            for _ in 0..<2 {
                let token = try #require(try await line.auth0.tokens.store.read().credentials.accessToken)
                let claims = try #require(UnverifiedJWT(token)).claims
                #expect(claims["aud"]?[0]?.string == "https://api.example.com")
                #expect(claims["scope"]?.string == configuration.scope, "a renewal is for the same")
                _ = try await line.auth0.refresh()
            }
            #expect(try await line.auth0.session()?.email == Self.name)
        }
    }

    /// What is not known at the tenant is the program's fault: it is no wrong password, and nobody is asked again.
    @Test(arguments: [(nil, "https://other.example.com"), ("nowhere", nil)] as [(String?, String?)])
    func whatTheTenantDoesNotKnowIsSaid(realm: String?, audience: String?) async throws {
        let configuration = Auth0Configuration(clientID: "cli", realm: realm, audience: audience)
        try await Self.run(configuration: configuration) { line in
            let person = Answers([.password: ["right"]])
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn(person) }
            #expect(error?.kind == .misconfigured && error?.remedies == [.fixRequest])
            #expect(person.asked.isEmpty && line.sandbox.requests().count == 1)
        }
    }

    /// Without `offline_access` there is no refresh token: the session ends with its access token.
    @Test func withoutOfflineAccessNothingIsRenewed() async throws {
        try await Self.run(configuration: Auth0Configuration(clientID: "cli", scope: "openid")) { line in
            let signedIn = try await line.signIn()
            #expect(signedIn.subject != nil && signedIn.email == nil)
            #expect(try await line.auth0.tokens.store.read().credentials.refreshToken == nil)
            #expect(try await line.auth0.session()?.subject == signedIn.subject)
            let error = await #expect(throws: RecoveryError.self) { try await line.auth0.refresh() }
            #expect(error?.kind == .reauthenticationRequired)
            try line.sandbox.endAuth0Tokens(of: Self.name, accessOnly: true)
            #expect(try await line.auth0.session() == nil)
            #expect(line.sandbox.auth0Grants["refresh_token"] == nil)
            _ = try await line.signIn()
            try await line.auth0.signOut()
            #expect(try await line.auth0.session() == nil)
        }
    }

    /// Where the tenant says when the session ends at all, nothing is sent with its tokens shortly before.
    @Test func aSessionEndsAtItsOwnEnd() async throws {
        var settings = SandboxAuth0Settings()
        settings.sessionLife = 3_600_000
        try await Self.run(settings: settings) { line in
            _ = try await line.signIn()
            #expect(try await line.auth0.session() != nil)
            // The sandbox's clock has gone on meanwhile, and half a minute is what it may have.
            line.clock.advance(by: .seconds(3599))
            let count = line.sandbox.requests().count
            #expect(try await line.auth0.session() == nil)
            let error = await #expect(throws: RecoveryError.self) { try await line.auth0.refresh() }
            #expect(error?.kind == .reauthenticationRequired && line.sandbox.requests().count == count)
            #expect(try await line.auth0.tokens.store.read().credentials == Credentials())
        }
    }

    /// Without `openid` there are tokens, and nobody's profile.
    @Test func withoutOpenIDThereIsNoProfile() async throws {
        try await Self.run(configuration: Auth0Configuration(clientID: "cli", scope: "offline_access")) { line in
            _ = try await line.signIn()
            let error = await #expect(throws: RecoveryError.self) { try await line.auth0.session() }
            #expect(error?.kind == .permissionDenied && error?.remedies == [.fixRequest])
            _ = try await line.auth0.refresh()
            #expect(line.sandbox.auth0Grants["refresh_token"] == 1, "no renewal mends a scope")
        }
    }

    /// A renewal that wants a second factor is another sign-in; until then all stays as it is.
    @Test func aRenewalThatWantsAFactor() async throws {
        try await Self.run { line in
            _ = try await line.signIn()
            line.sandbox.updateSettings { $0.auth0.wantsFactorOnRefresh = true }
            let held = try await line.auth0.tokens.store.read().credentials
            let error = await #expect(throws: RecoveryError.self) { try await line.auth0.refresh() }
            #expect(error?.kind == .stepUpRequired && error?.remedies == [.stepUp])
            #expect(error.map { "\($0)".contains("Fe26") } == false, "the mfa token is a secret")
            #expect(try await line.auth0.tokens.store.read().credentials == held)
            line.sandbox.updateSettings { $0.auth0.wantsFactorOnRefresh = false }
            // After a refusal the next one is put off for a moment.
            _ = try await line.clock.skippingWaits { try await line.auth0.refresh() }
        }
    }

    /// Opens the link that was mailed last and sets a password there.
    static func setPassword(_ password: String, _ line: Line) async throws {
        let link = try #require(line.sandbox.outbox(to: name).last?.code)
        let page = try await line.auth0.client.send(HTTPRequest(url: link))
        #expect(page.status == .ok)
        let form = try HTTPRequest(
            method: .post,
            url: String(link.prefix { $0 != "?" }),
            headerFields: [.contentType: "application/x-www-form-urlencoded"]
        )
        let ticket = link.split(separator: "=").last ?? ""
        let sent = try await line.auth0.client.send(form, body: MessageBody("ticket=\(ticket)&password=\(password)"))
        #expect(sent.status == .ok)
    }

    /// A leaked password is replaced by way of the mail that the person has chosen to have sent; the sign-in goes on with it.
    @Test func aLeakedPasswordIsReset() async throws {
        var person = Self.user()
        person.passwordState = "compromised"
        try await Self.run(person, configuration: Auth0Configuration(clientID: "cli", realm: Self.realm)) { line in
            var flow = line.auth0.signInFlow(.identifier(Self.name, password: "right"))
            guard case .choose(let ways) = try await flow.step(.begin).step,
                let mail = ways.first(where: { $0.providerName == "reset_password" }),
                case .ask = try await flow.step(.choose(mail)).step
            else { return #expect(Bool(false)) }
            try await Self.setPassword("muchbetter", line)
            guard case .finished = try await flow.step(.answer(.text("muchbetter"))).step else {
                return #expect(Bool(false))
            }
        }
    }

    @Test func aResetOfAnUnknownConnection() async throws {
        try await Self.run { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.sendPasswordReset(email: Self.name, connection: "nowhere")
            }
            #expect(error?.kind == .misconfigured && error?.outcome.code == "bad.connection")
        }
    }

    /// Each block of the tenant's is one request: the next is held here until somebody lifts it.
    @Test func aBlockedAccountIsLeftAlone() async throws {
        try await Self.run(threshold: 1) { line in
            _ = try? await line.signIn(password: "wrong")
            for _ in 0..<3 {
                let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
                #expect(error?.kind == .accountLocked)
            }
            #expect(line.sandbox.requests().count == 2)
            try line.sandbox.unblockAtAuth0(Self.name)
            await line.auth0.lockouts.forget(Self.name)
            _ = try await line.signIn()
        }
    }

    /// A proxy says 503 in place of a tenant that has renewed: the old token is presented within the leeway alone.
    @Test func a503InPlaceOfTheTenantsAnswerLeavesADoubt() async throws {
        var settings = SandboxAuth0Settings()
        settings.leeway = 30_000
        let configuration = Auth0Configuration(clientID: "cli", rotationLeeway: .seconds(30))
        try await Self.run(settings: settings, configuration: configuration) { line in
            _ = try await line.signIn()
            var fault = SandboxFault(.status, path: "/auth0/oauth/token", times: 0)
            (fault.status, fault.isProcessed) = (503, true)
            line.sandbox.add(fault)
            await #expect(throws: RecoveryError.self) {
                try await line.clock.skippingWaits { try await line.auth0.refresh() }
            }
            line.sandbox.clearFaults()
            let presented = line.sandbox.auth0Presentations
            line.clock.advance(by: .seconds(60))
            let error = await #expect(throws: RecoveryError.self) { try await line.auth0.refresh() }
            #expect(error?.reason == .renewalInDoubt && error?.kind == .reauthenticationRequired)
            #expect(line.sandbox.auth0Presentations == presented)
        }
    }

    /// However the answer is lost, a password and a rotating token go out once.
    @Test(arguments: [SandboxFault.Kind.resetAfter, .closeAfter, .truncate, .truncateReset])
    func whatMayBeSpentIsSentOnce(kind: SandboxFault.Kind) async throws {
        try await Self.run { line in
            _ = try await line.signIn()
            line.sandbox.add(SandboxFault(kind, path: "/auth0/oauth/token", times: 0))
            await #expect(throws: RecoveryError.self) {
                try await line.clock.skippingWaits { try await line.auth0.refresh() }
            }
            await #expect(throws: RecoveryError.self) { try await line.signIn(password: "right") }
            line.sandbox.clearFaults()
            #expect(line.sandbox.auth0Presentations.filter { $0.key.hasPrefix("refresh_token") }.values.max() == 1)
            #expect(line.sandbox.auth0Presentations.filter { $0.key.hasPrefix("password") }.values.max() == 2)
        }
    }
}

/// Takes the codes from the sandbox's outbox.
struct Mailbox: ChallengeResponder {
    let sandbox: AuthSandbox
    let address: String

    init(_ sandbox: AuthSandbox, _ address: String) {
        self.sandbox = sandbox
        self.address = address
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        guard let code = sandbox.outbox(to: address).last?.code else { throw Challenge.NoAnswer(challenge.key) }
        return .text(Secret(code))
    }

    func choose(among factors: [Factor]) async throws -> Factor? { factors.first { $0.key.isSent } }
}
