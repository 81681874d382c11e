import AuthRecovery
import AuthSandbox
import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import Auth0Auth

/// Against a server that behaves like a tenant and fails on purpose, over real sockets.
@Suite("Auth0 at the sandbox", .timeLimit(.minutes(10)))
struct Auth0SandboxTests {
    private static let name = "ada@example.com"

    /// What one test works with.
    private struct Line {
        let sandbox: AuthSandbox
        let clock: ManualClock
        let auth0: Auth0

        func signIn(_ person: Answers = Answers(), password: Secret = "right") async throws -> Auth0Session {
            try await clock.skippingWaits {
                try await auth0.signIn(identifier: Auth0SandboxTests.name, password: password, answering: person)
            }
        }
    }

    private static func user(factors: [String]? = nil, backupCodes: [String] = []) -> SandboxUser {
        var user = SandboxUser(email: name, password: "right")
        user.phones = ["+12015550100"]
        user.auth0.factors = factors
        user.backupCodes = backupCodes
        return user
    }

    private static func run(
        _ person: SandboxUser = user(),
        threshold: Int64 = 10,
        _ body: (Line) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario.unlimited
        scenario.users = [person]
        scenario.settings.auth0.threshold = threshold
        let sandbox = try await AuthSandbox.start(scenario: scenario)
        defer { sandbox.stop() }
        let transport = CurlTransport()
        let clock = ManualClock()
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
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
                configuration: Auth0Configuration(clientID: "cli")
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
private struct Mailbox: ChallengeResponder {
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

    func choose(among factors: [Factor]) async throws -> Factor? { factors.first { $0.key == .phoneCode } }
}
