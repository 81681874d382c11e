import AuthRecovery
import AuthSandbox
import ClerkAuth
import CurlTransport
import HTTPRecovery
import HTTPTypes
import Locking
import Testing

/// Clerk's client over real sockets, against the sandbox.
@Suite(.timeLimit(.minutes(30)))
struct ClerkWaysTests {
    /// A client of the sandbox with its own store.
    private struct World {
        let sandbox: AuthSandbox
        let client: RecoveringClient
        let store = InMemoryTokenStore()
        let clerk: Clerk

        init(_ sandbox: AuthSandbox, _ configuration: ClerkConfiguration = ClerkConfiguration()) throws {
            self.sandbox = sandbox
            client = RecoveringClient(transport: CurlTransport())
            clerk = try Clerk(
                frontendAPI: sandbox.url,
                client: client,
                tokens: store,
                configuration: configuration
            )
        }

        /// Does something behind the client's back.
        func control(_ path: String, _ body: String) async throws -> JSONValue {
            var request = try HTTPRequest(url: sandbox.url + "/_sandbox/" + path)
            request.method = .post
            let response = try await client.send(request, body: MessageBody(body))
            return try JSONValue(parsing: try await response.body.collect(upTo: 1 << 20))
        }

        func signIn(_ user: String = "ada@example.com") async throws -> ClerkSession {
            try await clerk.signIn(identifier: user, password: "open-sesame-42", answering: Mailbox(sandbox))
        }

        func count(_ route: String) -> Int { sandbox.requests(path: route).count }
    }

    private func run(
        _ scenario: SandboxScenario = .unlimited,
        _ configuration: ClerkConfiguration = ClerkConfiguration(),
        _ body: (World) async throws -> Void
    ) async throws {
        let sandbox = try await AuthSandbox.start(scenario: scenario)
        defer { sandbox.stop() }
        let world = try World(sandbox, configuration)
        try await body(world)
        await world.client.shutdown()
    }

    private func run(
        _ user: SandboxUser,
        _ configuration: ClerkConfiguration = ClerkConfiguration(),
        _ body: (World) async throws -> Void
    ) async throws {
        let scenario = SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings)
        try await run(scenario, configuration, body)
    }

    @Test func aTicketSignsInOnce() async throws {
        try await run { world in
            let made = try await world.control("clerk/ticket", #"{"user": "ada@example.com"}"#)
            let ticket = Secret(made["ticket"]?.string ?? "")
            let session = try await world.clerk.signIn(ticket: ticket, answering: Mailbox(world.sandbox))
            #expect(try await world.clerk.session()?.id == session.id)
            try await world.clerk.signOut()
            let error = await #expect(throws: RecoveryError.self) {
                try await world.clerk.signIn(ticket: ticket, answering: Mailbox(world.sandbox))
            }
            #expect(error?.kind == .flowExpired)
        }
    }

    @Test func aLinkIsOpenedInABrowser() async throws {
        var user = SandboxUser(email: "lin@example.com", password: "open-sesame-42")
        user.firstFactors = ["email_link"]
        try await run(user, ClerkConfiguration(redirectURL: "app://back")) { world in
            let session = try await world.clerk.signIn(
                identifier: "lin@example.com",
                answering: Mailbox(world.sandbox, opens: world.client)
            )
            #expect(session.status == .active)
            #expect(world.count("*/magic_links/complete") == 1)
        }
    }

    @Test func aPasskeySignsInAndVerifiesTheSession() async throws {
        var user = SandboxUser(email: "kay@example.com", password: "open-sesame-42")
        user.passkeys = ["a2V5LTE"]
        user.firstFactors = ["passkey"]
        try await run(user, ClerkConfiguration(authenticator: PaperKey())) { world in
            let session = try await world.clerk.signInWithPasskey(answering: Mailbox(world.sandbox))
            world.sandbox.advanceClock(by: .seconds(700))
            let form: FormFields = ["new_password": "correct horse battery"]
            let response = try await world.clerk.send(
                .post,
                path: "/v1/me/change_password",
                body: .form(form),
                answering: Mailbox(world.sandbox)
            )
            #expect(response.status == .ok)
            #expect(try await world.clerk.session()?.id == session.id)
        }
    }

    @Test func somebodySignsUp() async throws {
        try await run { world in
            let request = ClerkSignUpRequest(emailAddress: "new@example.com")
            let session = try await world.clerk.signUp(request, answering: Mailbox(world.sandbox))
            #expect(session.status == .active)
            try await world.clerk.signOut()
            let password: Secret = "correct horse battery"
            _ = try await world.clerk.signIn(
                identifier: "new@example.com",
                password: password,
                answering: Mailbox(world.sandbox)
            )
        }
    }

    @Test func aForgottenPasswordIsReplaced() async throws {
        try await run { world in
            _ = try await world.clerk.resetPassword(
                identifier: "ada@example.com",
                answering: Mailbox(world.sandbox)
            )
            try await world.clerk.signOut()
            let error = await #expect(throws: (any Error).self) { try await world.signIn() }
            #expect(error != nil)
        }
    }

    @Test func fiftyCallersMintOneTokenAndTheSeedIsSentAlong() async throws {
        var scenario = SandboxScenario.unlimited
        scenario.settings.requiresTokenSeed = true
        try await run(scenario) { world in
            _ = try await world.signIn()
            // The client comes with a token, which serves until it is nearly over.
            _ = try await world.clerk.sessionToken()
            #expect(world.count("*/tokens") == 0)
            world.sandbox.advanceClock(by: .seconds(55))
            // Any answer tells the server's time.
            _ = try await world.clerk.send(path: "/v1/environment")
            try await withThrowingTaskGroup(of: Secret.self) { group in
                for _ in 0..<50 { group.addTask { try await world.clerk.sessionToken().jwt } }
                let tokens = try await group.reduce(into: Set<Secret>()) { $0.insert($1) }
                #expect(tokens.count == 1)
            }
            #expect(world.count("*/tokens") == 2, "refused for the seed, then minted")
        }
    }

    @Test(arguments: ["authentication_invalid", "signed_out", "resource_not_found", "session_status"])
    func aSessionThatIsEndedFromAfarEndsInOneReadForAll(answer: String) async throws {
        var scenario = SandboxScenario.unlimited
        scenario.settings.endedSessionCode = answer
        try await run(scenario) { world in
            _ = try await world.signIn()
            _ = try await world.control("revoke", "{}")
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let error = await #expect(throws: RecoveryError.self) {
                            try await world.clerk.sessionToken(skippingCache: true)
                        }
                        #expect(error?.kind == .reauthenticationRequired)
                    }
                }
            }
            #expect(await world.store.read().credentials.sessionID == nil)
            #expect(await world.store.read().credentials.clientToken != nil)
        }
    }

    @Test func withoutAServerSigningOutIsFinishedHere() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let world = try World(sandbox)
        _ = try await world.signIn()
        sandbox.stop()
        let end = try await world.clerk.signOut()
        guard case .endedHere(let error) = end else {
            Issue.record("nobody can have been told")
            return
        }
        #expect(error.isOffline)
        #expect(try await world.clerk.session() == nil)
        let offline = await #expect(throws: RecoveryError.self) { try await world.clerk.sessions() }
        #expect(offline?.isOffline == true)
        await world.client.shutdown()
    }

    @Test(arguments: [SandboxFault.Kind.resetBefore, .resetAfter])
    func aLostAnswerToATicketIsNotAskedForAgain(kind: SandboxFault.Kind) async throws {
        try await run { world in
            let made = try await world.control("clerk/ticket", #"{"user": "ada@example.com"}"#)
            world.sandbox.add(SandboxFault(kind, method: "POST", path: "*/client/sign_ins"))
            let error = await #expect(throws: RecoveryError.self) {
                try await world.clerk.signIn(
                    ticket: Secret(made["ticket"]?.string ?? ""),
                    answering: Mailbox(world.sandbox)
                )
            }
            #expect(error?.reason == .processedUnknown)
            #expect(world.count("*/client/sign_ins") == 1)
        }
    }
}

/// Answers with what the sandbox has sent, and with what is known of its people.
private struct Mailbox: ChallengeResponder {
    let sandbox: AuthSandbox
    /// Opens links.
    var browser: RecoveringClient?

    init(_ sandbox: AuthSandbox, opens browser: RecoveringClient? = nil) {
        self.sandbox = sandbox
        self.browser = browser
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        switch challenge.key {
        case .emailCode, .phoneCode: return .text(Secret(sandbox.outbox().last?.code ?? ""))
        case .password: return .text("open-sesame-42")
        case .newPassword: return .text("correct horse battery")
        case .emailLink:
            guard let browser, let link = sandbox.outbox().last?.code else { throw Challenge.NoAnswer(.emailLink) }
            let response = try await browser.send(HTTPRequest(url: link))
            return .text(Secret(response.headerFields[.location] ?? ""))
        default: throw Challenge.NoAnswer(challenge.key)
        }
    }
}

/// A passkey for the sandbox's address, whose signature nobody checks.
private struct PaperKey: WebAuthn.Authenticator {
    /// The SHA-256 of `127.0.0.1`.
    private static let party: [UInt8] = [
        0x12, 0xCA, 0x17, 0xB4, 0x9A, 0xF2, 0x28, 0x94, 0x36, 0xF3, 0x03, 0xE0, 0x16, 0x60, 0x30, 0xA2,
        0x1E, 0x52, 0x5D, 0x26, 0x6E, 0x20, 0x92, 0x67, 0x43, 0x38, 0x01, 0xA8, 0xFD, 0x40, 0x71, 0xA0,
    ]

    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        throw WebAuthn.Failure.unsupported()
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        guard request.relyingPartyID == "127.0.0.1" else { throw WebAuthn.Failure.notAllowed() }
        return WebAuthn.Assertion(
            credentialID: Array("key-1".utf8),
            clientDataJSON: WebAuthn.ClientData(.get, challenge: request.challenge, origin: request.origin).json,
            authenticatorData: Self.party + [0x05, 0, 0, 0, 1],
            signature: [1]
        )
    }
}
