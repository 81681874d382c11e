import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import SignInSupport
import Testing
import WebAuthnTesting

@testable import Auth0Auth

/// Passkeys in place of a password, at a server that looks at them and at one that follows a script.
@Suite("Auth0: passkeys", .timeLimit(.minutes(10)))
struct Auth0PasskeyTests {
    private typealias Line = Auth0SandboxTests.Line
    private static let name = Auth0SandboxTests.name
    private static let grant = "urn:okta:params:oauth:grant-type:webauthn"

    private static func configuration(_ key: (any WebAuthn.Authenticator)?, offers: Bool = false) -> Auth0Configuration
    {
        var configuration = Auth0Configuration(clientID: "cli", realm: Auth0SandboxTests.realm)
        configuration.authenticator = key
        configuration.passwordless = offers ? [.passkey] : []
        return configuration
    }

    /// Somebody who has a passkey already.
    private static var person: SandboxUser {
        var person = Auth0SandboxTests.user()
        person.passkeys = [Base64.encodeForURL(Array("mine".utf8))]
        return person
    }

    /// An account is made with a passkey, and from then on it signs in; each challenge is answered once.
    @Test func aPasskeyMakesAnAccountAndSignsIn() async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration(PaperKey())) { line in
            let account = Auth0NewAccount(email: "new@example.com", name: "New")
            let made = try await line.auth0.signIn(.newPasskey(account), answering: Answers())
            #expect(made.email == "new@example.com" && made.subject != nil)
            let again = try await line.auth0.signIn(.passkey, answering: Answers())
            #expect(again.subject == made.subject)
            #expect(try await line.auth0.session()?.subject == made.subject)
            #expect(line.sandbox.auth0Grants[Self.grant] == 2)
            #expect(line.sandbox.auth0Presentations.values.allSatisfy { $0 == 1 })
        }
    }

    #if Cryptography
    /// The tenant verifies what was signed with the key that it has seen: a signature of something else signs nobody in.
    @Test func aForgedSignatureIsRefused() async throws {
        let real = SoftwareAuthenticator()
        try await Auth0SandboxTests.run(configuration: Self.configuration(real)) { line in
            let account = Auth0NewAccount(email: "new@example.com", name: "New")
            let made = try await line.auth0.signIn(.newPasskey(account), answering: Answers())
            #expect(try await line.auth0.signIn(.passkey, answering: Answers()).subject == made.subject)
            let forger = try Auth0(
                tenant: line.sandbox.url + "/auth0",
                client: line.auth0.client,
                tokens: InMemoryTokenStore(),
                configuration: Self.configuration(ForgingAuthenticator(real))
            )
            let error = await #expect(throws: RecoveryError.self) {
                try await forger.signIn(.passkey, answering: Answers())
            }
            #expect(error?.kind == .challengeIncorrect && error?.outcome.code == "invalid_grant")
            // What was refused has not been counted on.
            #expect(try await line.auth0.signIn(.passkey, answering: Answers()).subject == made.subject)
        }
    }
    #endif

    /// A passkey leads to the second factor where one is wanted.
    @Test func aSecondFactorFollows() async throws {
        var person = Self.person
        person.backupCodes = ["FIRST"]
        try await Auth0SandboxTests.run(person, configuration: Self.configuration(PaperKey(Array("mine".utf8)))) {
            line in
            let answers = Answers([.backupCode: ["FIRST"]])
            let session = try await line.auth0.signIn(.passkey, answering: answers)
            #expect(session.recoveryCode != nil && answers.asked == [.backupCode])
        }
    }

    /// One that the tenant does not know is presented once; there is nothing that somebody could enter better.
    @Test func aPasskeyOfNobodyIsPresentedOnce() async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration(PaperKey(Array("other".utf8)))) { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.signIn(.passkey, answering: Answers())
            }
            #expect(error?.kind == .challengeIncorrect && line.sandbox.auth0Grants == [Self.grant: 1])
        }
    }

    /// Whoever has an account signs in to it.
    @Test func anAccountIsMadeOnce() async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration(PaperKey())) { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.signIn(.newPasskey(Auth0NewAccount(email: Self.name)), answering: Answers())
            }
            #expect(error?.kind == .conflict && line.sandbox.auth0Grants.isEmpty)
        }
    }

    /// A key that cannot be used makes way for the password; nothing is presented.
    @Test func anotherWayIsTaken() async throws {
        let configuration = Self.configuration(PaperKey(failing: .notAllowed()), offers: true)
        try await Auth0SandboxTests.run(configuration: configuration) { line in
            let person = Answers([.password: ["right"]], choosing: .webauthn)
            var flow = line.auth0.signInFlow(.identifier(Self.name))
            guard case .choose(let factors) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
            #expect(factors.map(\.key) == [.password, .webauthn])
            _ = try await line.auth0.signIn(.identifier(Self.name), answering: person)
            #expect(line.sandbox.auth0Grants == ["password-realm": 1])
        }
    }

    /// Who puts the key away does not want to go on.
    @Test func whoCancelsIsNotSignedIn() async throws {
        let configuration = Self.configuration(PaperKey(failing: .cancelled()), offers: true)
        try await Auth0SandboxTests.run(configuration: configuration) { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.signIn(.passkey, answering: Answers())
            }
            #expect(error?.kind == .declined && line.sandbox.auth0Grants.isEmpty)
        }
    }

    /// An app that holds the ceremony itself is shown what it needs, in one request and at one machine; the answer comes to
    /// another one.
    @Test func theResponderHoldsTheCeremony() async throws {
        try await Auth0SandboxTests.run(Self.person, configuration: Self.configuration(nil)) { line in
            let instances = (0..<2).map { _ in
                SuspendedSignIns(line.auth0.client, sealing: PlainSealing()).held(by: "browser")
            }
            var turn = try await instances[0].begin(line.auth0.signInFlow(.passkey))
            guard case .ask(let question) = turn.step else { return #expect(Bool(false), "\(turn.step)") }
            let options = try JSONValue(parsing: question.hint ?? "")
            let request = try #require(WebAuthn.SigningRequest(options: options, origin: line.sandbox.url))
            let proof = try await PaperKey(Array("mine".utf8)).sign(request).json
            turn = try await instances[1].step(
                try #require(turn.ticket),
                .answer(.text(Secret(proof.description))),
                at: line.auth0
            )
            guard case .finished(let session) = turn.step else { return #expect(Bool(false), "\(turn.step)") }
            #expect(session.email == Self.name)
        }
    }

    /// Who has no such thing says so, and nothing is sent.
    @Test func theResponderHasNone() async throws {
        try await Auth0SandboxTests.run(Self.person, configuration: Self.configuration(nil)) { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.signIn(.passkey, answering: Answers([.webauthn: ["unsupported"]]))
            }
            #expect(error?.kind == .factorUnavailable && line.sandbox.auth0Grants.isEmpty)
        }
    }

    /// Of a credential whose answer was lost nobody knows: it is not sent again.
    @Test func aLostAnswerIsNotAskedForAgain() async throws {
        let challenge = #"""
            {"auth_session":"S","authn_params_public_key":{"challenge":"Y2hhbGxlbmdl","rpId":"example.eu.auth0.com"}}
            """#
        let bench = try Auth0Bench(
            [.json(challenge), .fail(.connectionLost, .unknown)],
            configuration: Self.configuration(PaperKey(Array("mine".utf8)))
        )
        await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await bench.auth0.signIn(.passkey, answering: Answers()) }
        }
        #expect(bench.sent == ["/passkey/challenge", "/oauth/token \(Self.grant)"])
        let sent = try JSONValue(parsing: try #require(bench.transport.received.last).body)
        #expect(sent["auth_session"] == "S" && sent["authn_response"]?["type"] == "public-key")
        #expect(sent["realm"]?.string == Auth0SandboxTests.realm && sent["scope"]?.string?.contains("openid") == true)
    }
}
