import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// Whatever an org answers, and however often it says the same, a sign-in ends, and spends nothing on the way.
@Suite("An Okta sign-in that goes round in circles", .timeLimit(.minutes(30)))
struct OktaLoopTests {
    private static let first = "/authn {username:ada@example.com,password:hunter2}"
    private static let skip = OktaJSON.link("skip", "/skip")
    private static let unlocked = ScriptedTransport.Step.success(nil, more: #","recoveryType":"UNLOCK""#)
    private static let recovery = ScriptedTransport.Step.answer(
        #"{"status":"RECOVERY","recoveryType":"UNLOCK","recoveryToken":"VBQ0gwBp5LyJJFdbmWCM","_links":{\#(OktaJSON.link("next", "/recovery/token", name: "recovery"))}}"#
    )

    private static func constant(_ step: ScriptedTransport.Step) -> [ScriptedTransport.Step] {
        Array(repeating: step, count: 600)
    }

    @Test func aStateThatIsSkippedOverAndOverEndsTheSignIn() async throws {
        let optional = OktaJSON.state(
            "MFA_ENROLL",
            embedded: #","factors":[\#(OktaJSON.open("sms", "OPTIONAL"))]"#,
            links: [Self.skip]
        )
        for step in [ScriptedTransport.Step.expired("PASSWORD_WARN", links: [Self.skip]), .answer(optional)] {
            let bench = try OktaBench(Self.constant(step))
            let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
            #expect(error?.kind == .stateConflict && error?.reason == .attemptsExhausted)
            #expect(bench.transport.received.count <= 32)
            #expect(bench.sent.filter { $0 == Self.first }.count == 1)
        }
    }

    /// A server that never says that it is over is not asked for ever, nor after a pause that nobody would live to see.
    @Test func aPushIsNotWaitedForForEver() async throws {
        let push = OktaJSON.factor("push")
        let state = OktaJSON.state(
            "MFA_CHALLENGE",
            embedded: #","factor":\#(push)"#,
            links: [OktaJSON.link("next", "/factors/f1/verify", name: "poll")],
            more: #","factorResult":"WAITING""#
        )
        let waiting = ScriptedTransport.Step.answer(state.replacing("2030-01-01", with: "2090-01-01"))
        let classic = try OktaBench([.required(push)] + Array(repeating: waiting, count: 3000))
        try await expectExpiry(classic)
        #expect(classic.transport.received.count < 1000)
        let engine = try OktaBench.engine(Array(repeating: .poll(every: "1e300"), count: 100))
        try await expectExpiry(engine)
        #expect(engine.clock.requestedDelays == Array(repeating: .seconds(600), count: 6))
    }

    @Test(arguments: ["0", "-5", "\"4000\"", "null", "{}"]) func aPauseIsOne(refresh: String) async throws {
        let bench = try OktaBench.engine(Array(repeating: .poll(every: refresh), count: 100))
        _ = try? await bench.skippingWaits {
            try await bench.okta.signIn(
                identifier: "ada",
                password: "p",
                answering: Person(),
                options: SignInOptions(deadline: .seconds(10))
            )
        }
        let waited = bench.clock.requestedDelays
        #expect(!waited.isEmpty && waited.allSatisfy { $0 >= .milliseconds(500) && $0 <= .seconds(10) })
    }

    private func expectExpiry(_ bench: OktaBench) async throws {
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.okta.signIn(identifier: "ada", password: "p", answering: Person())
            }
        }
        #expect(error?.kind == .challengeExpired)
    }

    @Test func anUnlockThatNobodyHasBegunSendsNoPasswordAgain() async throws {
        let bench = try OktaBench(Self.constant(Self.unlocked))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unreadable)
        #expect(bench.sent == [Self.first])
    }

    @Test func anUnlockLeadsToThePasswordOnce() async throws {
        let bench = try OktaBench([.lockedOut] + Self.constant(Self.unlocked))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([Factor.Key: Secret](), choosing: "SMS"))
        }
        #expect(error?.kind == .unreadable)
        #expect(bench.sent.filter { $0 == Self.first }.count == 2)
        #expect(bench.sent.count == 3)
    }

    @Test func aRecoveryTokenIsRedeemedOnce() async throws {
        let bench = try OktaBench(Self.constant(Self.recovery))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.okta.recoverPassword(identifier: "ada", via: .sms, answering: Person())
        }
        #expect(error?.kind == .stateConflict)
        #expect(bench.sent.filter { $0.hasPrefix("/authn/recovery/token") }.count == 1)
    }

    @Test func aCodeIsSentOnceWhateverTheServerAsksFor() async throws {
        for type in ["sms", "call", "email"] {
            let bench = try OktaBench(Self.constant(.required(OktaJSON.factor(type))))
            let codes = [Challenge.Answer](repeating: .text("1"), count: 50)
            await #expect(throws: RecoveryError.self) {
                try await bench.signIn("hunter2", Person([.phoneCode: codes, .emailCode: codes]))
            }
            #expect(bench.sent.filter { $0 == "/authn/factors/f1/verify" }.count == 1)
            #expect(bench.transport.received.count < 20)
        }
    }

    @Test func aCodeIsSentAgainWhereItIsWishedFor() async throws {
        let sms = OktaJSON.factor("sms")
        let bench = try OktaBench([
            .required(sms), .required(sms), .challenge(sms), .success(), .session,
        ])
        _ = try await bench.signIn("hunter2", Person([.phoneCode: [.resend, .text("1")]]))
        #expect(bench.sent.filter { $0 == "/authn/factors/f1/verify" }.count == 2)
    }

    @Test func aNewTransactionHasItsOwnCode() async throws {
        let sms = OktaJSON.factor("sms")
        let bench = try OktaBench([
            .required(sms), .challenge(sms), .error(11, 401), .required(sms), .challenge(sms), .success(), .session,
        ])
        _ = try await bench.signIn("hunter2", Person([.phoneCode: [.text("1"), .text("2")]]))
        #expect(bench.sent.filter { $0 == "/authn/factors/f1/verify" }.count == 2)
    }

    @Test func anAddressIsEnrolledOnce() async throws {
        let enrolling = OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(OktaJSON.open("email"))]"#)
        let bench = try OktaBench(Self.constant(.answer(enrolling)))
        await #expect(throws: (any Error).self) {
            try await bench.signIn("hunter2", Person([.emailCode: [.text("1"), .text("2")]]))
        }
        #expect(bench.sent.filter { $0.hasPrefix("/authn/factors {") }.count == 1)
    }

    @Test func anAuthenticatorDoesNotSignForEver() async throws {
        let factor = OktaJSON.factor(
            "webauthn",
            profile: #"{"credentialId":"AQID"}"#,
            challenge: #"{"challenge":"aGVsbG8"}"#
        )
        let bench = try OktaBench(
            Self.constant(.challenge(factor, result: "CHALLENGE")),
            configuration: OktaConfiguration(authenticator: Tireless())
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .stateConflict)
        #expect(bench.transport.received.count <= 32)
    }
}

extension ScriptedTransport.Step {
    /// Nobody has answered yet, in a flow that does not say when it ends.
    fileprivate static func poll(every refresh: String) -> Self {
        let poll = Ion.form("challenge-poll", "authenticators/poll", more: #","refresh":\#(refresh)"#)
        let current = Ion.current("okta_verify", "push")
        return .answer(#"{"version":"1.0.0","stateHandle":"H","remediation":{"value":[\#(poll)]},\#(current)}"#)
    }
}

/// An authenticator that always signs.
private struct Tireless: WebAuthn.Authenticator {
    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        throw WebAuthn.Failure.unsupported()
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        WebAuthn.Assertion(credentialID: [1], clientDataJSON: [1], authenticatorData: [1], signature: [1])
    }
}
