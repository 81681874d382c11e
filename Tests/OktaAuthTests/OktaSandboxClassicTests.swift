import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing
import WebAuthnTesting

@testable import AuthSandbox

@Suite("A classic org of the sandbox")
struct OktaSandboxClassicTests {
    private static let eva = OktaSandboxBench.eva

    /// An org without the identity engine, and without an app unless there is one to be.
    private static func classic(
        _ user: (inout SandboxUser) -> Void = { _ in },
        app: OktaApp? = nil,
        configuration: (inout OktaConfiguration) -> Void = { _ in },
        settings: (inout SandboxSettings) -> Void = { _ in }
    ) throws -> OktaSandboxBench {
        try OktaSandboxBench(
            user,
            configuration: {
                $0.app = app
                configuration(&$0)
            },
            settings: {
                $0.okta.isIdentityEngine = false
                settings(&$0)
            }
        )
    }

    private static let app = OktaApp(
        clientID: "cli",
        redirectURI: "com.example.cli:/callback",
        issuer: "http://org.example.com"
    )

    private static func named(_ type: String, _ name: String) -> SandboxOktaUser.Factor {
        var factor = SandboxOktaUser.Factor(type)
        factor.name = name
        factor.script = ["SUCCESS"]
        return factor
    }

    // MARK: An app that wants more

    @Test func anAppThatRequiresMoreGetsOnePassword() async throws {
        let bench = try Self.classic(app: Self.app, settings: { $0.okta.appRequiresMFA = true })
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(Reader(bench)) }
        #expect(error?.kind == .stepUpRequired && bench.counters.passwordAttempts == 1)
        #expect(await bench.tokens.read().credentials == Credentials())
        // With a factor it is satisfied.
        let other = try Self.classic(
            { $0.okta.factors = [.init("token:software:totp")] },
            app: Self.app,
            settings: { $0.okta.appRequiresMFA = true }
        )
        _ = try await other.signIn(Reader(other))
    }

    // MARK: Devices

    @Test(arguments: [true, false])
    func aDeviceIsRemembered(remembers: Bool) async throws {
        let bench = try Self.classic(
            { $0.okta.factors = [.init("token:software:totp")] },
            configuration: {
                $0.remembersDevice = remembers
                $0.deviceToken = "device1"
            }
        )
        let first = Reader(bench)
        _ = try await bench.signIn(first)
        let second = Reader(bench)
        _ = try await bench.signIn(second)
        #expect(first.keys == [.totp] && second.keys == (remembers ? [] : [.totp]))
    }

    // MARK: Limits

    /// A name's limit leaves something of the org's own: everything else goes on at once.
    @Test func aNamesLimitHoldsNothingElse() async throws {
        let bench = try Self.classic(settings: { $0.okta.nameLimit = .init(count: 1, per: 60_000) })
        _ = try await bench.signIn(Reader(bench))
        let other = try bench.other({ $0.app = nil }, waitingAtMost: .seconds(1))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits {
                try await other.signIn(
                    identifier: Self.eva,
                    password: Secret(OktaSandboxBench.password),
                    answering: Reader(bench)
                )
            }
        }
        #expect(error?.kind == .rateLimited && bench.counters.passwordAttempts == 1)
        let before = bench.clock.now
        _ = try await bench.clock.skippingWaits {
            try await bench.okta.forgotPassword(OktaRecoveryRequest(username: Self.eva, via: .sms))
        }
        #expect(bench.clock.now == before)
    }

    // MARK: Factors

    @Test func phonesAreToldApart() async throws {
        let bench = try Self.classic({ $0.okta.factors = [Self.named("push", "phone"), Self.named("push", "tablet")] })
        struct Chooser: ChallengeResponder {
            let reader: Reader
            func answer(_ challenge: Challenge) async throws -> Challenge.Answer { try await reader.answer(challenge) }
            func choose(among factors: [Factor]) async throws -> Factor? {
                _ = try await reader.choose(among: factors)
                return factors.last
            }
        }
        let reader = Reader(bench)
        _ = try await bench.signIn(Chooser(reader: reader))
        #expect(reader.offers.withLock { $0.first?.map(\.destination) } == ["phone", "tablet"])
        let ids = bench.world.withLock { $0.world.okta.account(named: Self.eva)?.factors.map(\.id) } ?? []
        #expect(bench.count("/api/v1/authn/factors/\(ids.last ?? "")/verify") == 2)
    }

    private static func begin(_ bench: OktaSandboxBench) async throws -> OktaState {
        try await bench.okta.authenticate(
            OktaCredentials(username: eva, password: Secret(OktaSandboxBench.password))
        )
    }

    private static func challenge(_ bench: OktaSandboxBench) async throws -> OktaFactorChallenge {
        guard case .factorRequired(let required) = try await begin(bench),
            let verify = required.verify(required.factors[0]),
            case .factorChallenge(let challenge) = try await verify(.start)
        else { throw Challenge.NoAnswer(.choice) }
        return challenge
    }

    @Test func duosPageIsAStep() async throws {
        let bench = try Self.classic({ $0.okta.factors = [.init("web")] })
        let challenge = try await Self.challenge(bench)
        #expect(challenge.result == .waiting)
        let signature = challenge.factor?.challenge?["signature"]?.string ?? ""
        let complete = try #require(challenge.complete)
        _ = try? await complete(.fields(["sig_response": Secret(signature.replacing("TX|", with: "AUTH|"))]))
        let poll = try #require(challenge.poll)
        guard case .success = try await poll() else {
            Issue.record("no success")
            return
        }
    }

    @Test func aU2FKeySignsItsNonce() async throws {
        let bench = try Self.classic({ $0.okta.factors = [.init("u2f")] })
        let challenge = try await Self.challenge(bench)
        let nonce = challenge.factor?.challenge?["nonce"]?.string ?? ""
        let client = #"{"typ":"x","type":"navigator.id.getAssertion","challenge":"\#(nonce)"}"#
        let verify = try #require(challenge.verify)
        let data = Secret(Base64.encodeForURL(client.utf8))
        guard case .success = try await verify(.fields(["clientData": data, "signatureData": "s"])) else {
            Issue.record("no success")
            return
        }
    }

    @Test func whateverAFactorWantsInItsProfileIsSent() async throws {
        let bench = try Self.classic({ $0.okta.enrollments = [.init("sms")] })
        guard case .enrolling(let enrolling) = try await Self.begin(bench),
            let enroll = enrolling.enroll(enrolling.factors[0]),
            case .activating(let activating) = try await enroll(
                OktaFactorEnrollment(enrolling.factors[0], profile: ["phoneNumber": "+4930999999"])
            )
        else {
            Issue.record("not enrolled")
            return
        }
        let activate = try #require(activating.activate)
        guard case .success = try await activate(.passCode(Secret(bench.lastCode))) else {
            Issue.record("no success")
            return
        }
    }

    @Test func aPushThatHasRunOutIsActivatedAnew() async throws {
        let bench = try Self.classic({ $0.okta.enrollments = [.init("push")] }, settings: { $0.okta.pushLife = 3000 })
        let reader = Reader(bench, [.push: [.resend]])
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.push])
        let paths = bench.paths.filter { $0.contains("/lifecycle/") }.map { $0.split(separator: "/").last ?? "" }
        #expect(paths == ["poll", "activate", "poll"])
    }

    #if Cryptography
    /// The handle of a person is bytes: the authenticator keeps those, not their text.
    @Test func aHandleIsBytes() async throws {
        struct Keeping: WebAuthn.Authenticator {
            let inner = SoftwareAuthenticator()
            let handles = Locked<[[UInt8]]>([])
            func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
                handles.withLock { $0.append(request.user.id) }
                return try await inner.register(request)
            }
            func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
                try await inner.sign(request)
            }
        }
        let key = Keeping()
        let bench = try Self.classic(
            { $0.okta.enrollments = [.init("webauthn")] },
            configuration: { $0.authenticator = key }
        )
        let session = try await bench.signIn(Reader(bench))
        #expect(key.handles.withLock { $0 } == [Array((session.userID ?? "").utf8)])
        // And it signs.
        _ = try await bench.signIn(Reader(bench))
    }
    #endif

    // MARK: States

    @Test func aStateThatNobodyKnowsOffersItsLinks() async throws {
        let bench = try Self.classic({ $0.statusAfterFirstFactor = "CONSENT_REQUIRED" })
        guard case .unknown(let state) = try await Self.begin(bench) else {
            Issue.record("known")
            return
        }
        #expect(state.status.rawValue == "CONSENT_REQUIRED" && state.step("next") == nil)
        let cancel = try #require(state.step("cancel"))
        _ = try? await cancel([])
        #expect(bench.world.withLock { $0.world.okta.transactions.isEmpty })
    }

    @Test func aFactorStandsInThePlaceOfThePassword() async throws {
        let bench = try Self.classic(
            { $0.okta.factors = [.init("sms"), .init("token:software:totp")] },
            configuration: { $0.beginsWithoutPassword = true },
            settings: { $0.okta.allowsPasswordless = true }
        )
        let reader = Reader(bench, choosing: ["totp"])
        let session = try await bench.signIn(reader, password: nil)
        #expect(session.login == Self.eva && reader.keys == [.totp] && bench.counters.passwordAttempts == 0)
    }

    @Test func aStepUpEndsWhereTheBrowserGoesOn() async throws {
        let bench = try Self.classic({ $0.okta.factors = [.init("token:software:totp")] })
        let token = bench.world.withLock { harness -> String in
            let body = Array(#"{"user":"eva@example.com"}"#.utf8)
            let header = SandboxRequest.Header(name: "content-type", value: "application/json")
            let request = SandboxRequest(
                method: "POST",
                target: "/_sandbox/okta/step_up",
                headers: [header],
                body: body
            )
            return harness.send(request).jsonBody?["state_token"]?.string ?? ""
        }
        var flow = bench.okta.signInFlow(continuing: Secret(token), identifier: Self.eva)
        let session = try await flow.run(answering: Reader(bench))
        #expect(session.redirect == "https://org.example.com/login/step-up/redirect?stateToken=\(token)")
        #expect(session.status == "SESSION_STEP_UP" && bench.counters.passwordAttempts == 0)
    }
}
