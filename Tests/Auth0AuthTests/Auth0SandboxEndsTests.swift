import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

private struct SandboxMissing: Error {}

/// What ends a session or holds one back, at a server that behaves like a tenant.
@Suite("Auth0 at the sandbox: ends", .timeLimit(.minutes(10)))
struct Auth0SandboxEndsTests {
    private static let name = Auth0SandboxTests.name

    private static func settings<Value>(
        _ path: WritableKeyPath<SandboxAuth0Settings, Value>,
        _ value: Value
    ) -> SandboxAuth0Settings {
        var settings = SandboxAuth0Settings()
        settings[keyPath: path] = value
        return settings
    }

    /// Whoever is blocked has their tokens still: an administrator can lift it.
    @Test func aBlockedPersonsTokensStay() async throws {
        var person = Auth0SandboxTests.user()
        try await Auth0SandboxTests.run(person) { line in
            _ = try await line.signIn()
            let held = try await line.auth0.tokens.store.read().credentials
            person.state = "banned"
            try line.sandbox.add(person)
            let error = await #expect(throws: RecoveryError.self) {
                try await line.clock.skippingWaits { try await line.auth0.refresh() }
            }
            #expect(error?.kind == .accountBlocked && error?.remedies == [.contactAdmin])
            #expect(error?.outcome.userMessage == "user is blocked")
            #expect(try await line.auth0.tokens.store.read().credentials == held)
            #expect(line.sandbox.auth0Grants["refresh_token"] == 1)
            person.state = "active"
            try line.sandbox.add(person)
            _ = try await line.clock.skippingWaits { try await line.auth0.refresh() }
        }
    }

    @Test func aDeviceOfABlockedPerson() async throws {
        var person = Auth0SandboxTests.user()
        try await Auth0SandboxTests.run(person) { line in
            var flow = line.auth0.signInFlow(.device)
            _ = try await flow.step(.begin)
            try line.sandbox.answerAuth0Device(as: Self.name)
            person.state = "banned"
            try line.sandbox.add(person)
            line.clock.advance(by: .seconds(5))
            let error = await #expect(throws: RecoveryError.self) { try await flow.step(.poll) }
            #expect(error?.kind == .accountBlocked && error?.remedies == [.contactAdmin])
        }
    }

    /// Nobody can be signed in any more whose account is gone, and nothing is kept of it.
    @Test func aDeletedPersonIsSignedOut() async throws {
        try await Auth0SandboxTests.run { line in
            _ = try await line.signIn()
            try line.sandbox.deleteAtAuth0(Self.name)
            let session = try await line.clock.skippingWaits { try await line.auth0.session() }
            #expect(session == nil)
            #expect(try await line.auth0.tokens.store.read().credentials.refreshToken == nil)
            #expect(line.sandbox.auth0Grants["refresh_token"] == 1)
        }
    }

    @Test func aSessionOfAllItsTimeIsOver() async throws {
        try await Auth0SandboxTests.run(settings: Self.settings(\.refreshLifetime, 0)) { line in
            _ = try await line.signIn()
            let error = await #expect(throws: RecoveryError.self) {
                try await line.clock.skippingWaits { try await line.auth0.refresh() }
            }
            #expect(error?.kind == .reauthenticationRequired)
            #expect(try await line.auth0.tokens.store.read().credentials.refreshToken == nil)
        }
    }

    /// In whichever status: the person has said no, and is not asked again by itself.
    @Test(arguments: [200, 400] as [Int64]) func aPushThatIsRefused(status: Int64) async throws {
        try await Auth0SandboxTests.run(
            Auth0SandboxTests.user(factors: ["push"]),
            settings: Self.settings(\.pushRejectionStatus, status)
        ) { line in
            var flow = line.auth0.signInFlow(.identifier(Self.name, password: "right"))
            guard case .pending = try await flow.step(.begin).step else { return #expect(Bool(false)) }
            try line.sandbox.answerAuth0Push(approving: false)
            line.clock.advance(by: .seconds(5))
            let error = await #expect(throws: RecoveryError.self) { try await flow.step(.poll) }
            #expect(error?.kind == .declined)
            #expect(line.sandbox.requests().filter { $0.path == "/auth0/mfa/challenge" }.count == 1)
        }
    }

    /// A sign-in that another app has begun is begun again; the password is presented twice and the code once.
    @Test func anMFATokenOfAnotherApp() async throws {
        try await Auth0SandboxTests.run(Auth0SandboxTests.user(backupCodes: ["FIRST"])) { line in
            var flow = line.auth0.signInFlow(.identifier(Self.name, password: "right"))
            guard case .ask = try await flow.step(.begin).step else { return #expect(Bool(false)) }
            line.sandbox.updateSettings { $0.auth0.clientID = "other" }
            let error = await #expect(throws: RecoveryError.self) { try await flow.step(.answer(.text("FIRST"))) }
            #expect(error?.kind == .misconfigured && error?.outcome.code == "invalid_client")
        }
    }

    /// Where the app wants it, a code by e-mail makes an account.
    @Test func aCodeMakesAnAccount() async throws {
        var configuration = Auth0Configuration(clientID: "cli", realm: Auth0SandboxTests.realm)
        configuration.allowsSignUp = true
        try await Auth0SandboxTests.run(configuration: configuration) { line in
            let address = "new@example.com"
            let session = try await line.auth0.signIn(
                .passwordless(.databaseEmailCode, to: address),
                answering: Mailbox(line.sandbox, address)
            )
            #expect(session.email == address)
        }
    }

    /// A phone that is called is set up as one that gets text messages.
    @Test func aPhoneThatIsCalledIsSetUp() async throws {
        var person = Auth0SandboxTests.user()
        person.auth0.enrollments = ["voice"]
        try await Auth0SandboxTests.run(person) { line in
            var flow = line.auth0.signInFlow(.identifier(Self.name, password: "right"))
            guard case .choose(let factors) = try await flow.step(.begin).step,
                let call = factors.first(where: { $0.providerName == "voice" }),
                case .ask(let number) = try await flow.step(.choose(call)).step
            else { return #expect(Bool(false)) }
            #expect(number.key == .phoneNumber)
            guard case .ask(let shown) = try await flow.step(.answer(.text("+12015550177"))).step, shown.key == .text,
                case .ask(let question) = try await flow.step(.answer(.text("noted"))).step
            else { return #expect(Bool(false)) }
            #expect(question.key == .phoneCode && question.factor.providerName == "voice")
            let code = line.sandbox.outbox(to: "+12015550177").last?.code ?? ""
            guard case .finished = try await flow.step(.answer(.text(Secret(code)))).step else {
                return #expect(Bool(false))
            }
            // From now on it is what is asked for.
            let mailbox = Mailbox(line.sandbox, "+12015550177")
            _ = try await line.auth0.signIn(.identifier(Self.name, password: "right"), answering: mailbox)
        }
    }

    /// Of a password's rules the person is told those that are not met, and of a list what is missing.
    @Test func aWeakPasswordSaysWhatIsMissing() async throws {
        let configuration = Auth0Configuration(clientID: "cli", realm: Auth0SandboxTests.realm)
        try await Auth0SandboxTests.run(
            settings: Self.settings(\.passwordTypes, 3),
            configuration: configuration
        ) { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.signUp(email: "new@example.com", password: "lowercase1")
            }
            #expect(
                error?.outcome.userMessage == """
                    Contain at least 3 of the following 4 types of characters: upper case letters (A-Z), \
                    special characters (e.g. !@#$%^&*)
                    """
            )
        }
    }

    /// Too many logins of one person: a throttle, which is no lock and presents the password no second time.
    @Test func tooManyLoginsAreAThrottle() async throws {
        try await Auth0SandboxTests.run { line in
            for _ in 0..<20 {
                _ = try await line.auth0.signIn(.identifier(Self.name, password: "right"), answering: Answers())
            }
            var bounded = line.auth0
            bounded.client = line.auth0.client.waiting(atMost: .zero)
            let error = await #expect(throws: RecoveryError.self) {
                try await bounded.signIn(.identifier(Self.name, password: "right"), answering: Answers())
            }
            #expect(error?.kind == .rateLimited && error?.outcome.code == "too_many_logins")
            #expect(error?.outcome.scope == .account && line.sandbox.auth0Grants["password"] == 21)
        }
    }

    /// Too many mails: the next one is waited for as the tenant says, and sent once.
    @Test func mailsOfResetsAreWaitedFor() async throws {
        let configuration = Auth0Configuration(clientID: "cli", realm: Auth0SandboxTests.realm)
        try await Auth0SandboxTests.run(configuration: configuration) { line in
            for _ in 0..<10 { try await line.auth0.sendPasswordReset(email: Self.name) }
            var bounded = line.auth0
            bounded.client = line.auth0.client.waiting(atMost: .zero)
            let error = await #expect(throws: RecoveryError.self) {
                try await bounded.sendPasswordReset(email: Self.name)
            }
            #expect(error?.kind == .rateLimited && (error?.outcome.retryAfter ?? .zero) > .seconds(50))
            #expect(line.sandbox.outbox(to: Self.name).count == 10)
        }
    }
}
