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

/// An authenticator that always signs.
private struct Tireless: WebAuthn.Authenticator {
    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        throw WebAuthn.Failure.unsupported()
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        WebAuthn.Assertion(credentialID: [1], clientDataJSON: [1], authenticatorData: [1], signature: [1])
    }
}
