import AuthCryptography
import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing
import WebAuthnTesting

@testable import AuthSandbox

@Suite("A sandbox on the identity engine: rarer ways in, and what becomes of tokens")
struct OktaSandboxWaysTests {
    private static let eva = OktaSandboxBench.eva
    private static let new = "Correct-horse-9"

    private static func direct(
        _ user: (inout SandboxUser) -> Void = { _ in },
        _ more: (inout OktaConfiguration) -> Void = { _ in }
    ) throws -> OktaSandboxBench {
        try OktaSandboxBench(user) {
            $0.way = .directAuthentication
            more(&$0)
        }
    }

    // MARK: Direct Authentication

    @Test func aCall() async throws {
        let bench = try Self.direct({ $0.okta.factors = [.init("call")] })
        let reader = Reader(bench, [.phoneCode: [.text("1")]], choosing: ["voice"])
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.phoneCode, .phoneCode] && bench.counters.codes == 1)
    }

    #if Cryptography
    /// The org's own keys verify what it has signed, and nothing that another key or the app's secret has.
    @Test(arguments: ["another key", "a secret", ""])
    func signaturesAreVerifiedWithTheOrgsKeys(wrong: String) async throws {
        let bench = try OktaSandboxBench(
            configuration: { $0.app?.signatures = JSONWebKey.Verifier() },
            settings: {
                if wrong == "a secret" { $0.oauth.idTokenAlgorithm = "HS256" }
                $0.oauth.hidesKey = wrong == "another key"
            }
        )
        guard wrong.isEmpty else {
            let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(Reader(bench)) }
            #expect(error?.outcome.code == "signature_mismatch")
            #expect(await bench.tokens.read().credentials == Credentials())
            return
        }
        _ = try await bench.signIn(Reader(bench))
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.okta.refresh().idToken != nil)
        #expect(bench.count("/oauth2/v1/keys") == 1)
    }

    /// A key is set up by the engine's forms, and then signs in both ways, as the second factor and as the first.
    @Test func aKeySignsDirectly() async throws {
        let authenticator = SoftwareAuthenticator()
        let bench = try OktaSandboxBench(
            { $0.okta.enrollments = [.init("webauthn")] },
            configuration: { $0.authenticator = authenticator }
        )
        _ = try await bench.signIn(Reader(bench))
        let direct = try bench.other {
            $0.way = .directAuthentication
            $0.authenticator = authenticator
        }
        let second = Reader(bench, choosing: ["webauthn"])
        _ = try await bench.clock.skippingWaits {
            try await direct.signIn(
                identifier: Self.eva,
                password: Secret(OktaSandboxBench.password),
                answering: second
            )
        }
        let first = Reader(bench, [.password: [.useAnotherFactor]], choosing: ["webauthn"])
        _ = try await bench.clock.skippingWaits {
            try await direct.signIn(identifier: Self.eva, password: nil, answering: first)
        }
        #expect(second.keys.isEmpty && first.keys == [.password])
        #expect(bench.counters.passwordAttempts == 2 && bench.count("/oauth2/v1/challenge") == 1)
    }

    /// The org verifies what was signed with the key that it has seen, by whichever of its ways it is presented.
    @Test(arguments: [OktaConfiguration.Way.directAuthentication, .identityEngine])
    func aForgedSignatureIsRefused(way: OktaConfiguration.Way) async throws {
        let authenticator = SoftwareAuthenticator()
        let bench = try OktaSandboxBench(
            { $0.okta.enrollments = [.init("webauthn")] },
            configuration: { $0.authenticator = authenticator }
        )
        _ = try await bench.signIn(Reader(bench))
        let forging = try bench.other {
            $0.way = way
            $0.authenticator = ForgingAuthenticator(authenticator)
        }
        let reader = Reader(bench, choosing: ["webauthn"])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits {
                try await forging.signIn(
                    identifier: Self.eva,
                    password: Secret(OktaSandboxBench.password),
                    answering: reader
                )
            }
        }
        // The engine suspends a factor that has failed too often.
        let isSuspended = error?.outcome.code == "authfactor.challenge.suspended_factor"
        #expect(
            way == .identityEngine ? isSuspended : error?.kind == .challengeIncorrect,
            "\(String(describing: error))"
        )
    }
    #endif

    @Test func aForgottenPasswordIsRecoveredDirectly() async throws {
        let bench = try Self.direct()
        let reader = Reader(
            bench,
            [.phoneCode: [.text("1")], .newPassword: [.text("short"), .text(Secret(Self.new))]],
            choosing: ["sms"]
        )
        let session = try await bench.clock.skippingWaits {
            try await bench.okta.recoverPassword(identifier: Self.eva, answering: reader)
        }
        #expect(session.login == Self.eva && session.idToken != nil)
        #expect(reader.keys == [.phoneCode, .phoneCode, .newPassword, .newPassword])
        #expect(reader.asked.withLock { $0.last?.previousFailure?.kind } == .passwordRejected)
        #expect(bench.counters.passwordAttempts == 1)
        // What set the password is given up.
        #expect(bench.count("/oauth2/v1/revoke") == 1 && bench.count("/idp/myaccount/password") == 2)
    }

    /// The factor by which the person is reached is the one that was asked for; nobody is asked for the old password.
    @Test func thePersonIsReachedAsItWasAskedFor() async throws {
        let bench = try Self.direct({ $0.okta.factors = [.push("WAITING", "SUCCESS"), .init("sms")] })
        let reader = Reader(bench, [.newPassword: [.text(Secret(Self.new))]], choosing: ["push"])
        _ = try await bench.clock.skippingWaits {
            try await bench.okta.recoverPassword(identifier: Self.eva, via: .call, answering: reader)
        }
        #expect(reader.keys == [.phoneCode, .newPassword])
        // The new password alone is not enough: the second factor is the push.
        #expect(bench.counters.codes == 1 && bench.counters.pushes == 1)
    }

    @Test func aForgottenPasswordInTheMiddle() async throws {
        let bench = try Self.direct()
        let reader = Reader(
            bench,
            [.password: [.useAnotherFactor], .newPassword: [.text(Secret(Self.new))]],
            choosing: ["recover", "sms"]
        )
        _ = try await bench.signIn(reader, password: nil)
        #expect(reader.keys == [.password, .phoneCode, .newPassword])
    }

    @Test func whoMayNotRecoverIsTold() async throws {
        let bench = try Self.direct({ $0.okta.mayRecover = false })
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits {
                try await bench.okta.recoverPassword(
                    identifier: Self.eva,
                    answering: Reader(bench, choosing: ["sms"])
                )
            }
        }
        #expect(error?.kind == .permissionDenied && error?.remedies == [.contactAdmin])
    }

    /// A new password whose answer is lost is asked for again; nobody sends it twice.
    @Test func aNewPasswordWhoseAnswerIsLost() async throws {
        let bench = try Self.direct()
        bench.losses.withLock { $0 = ["/idp/myaccount/password"] }
        let reader = Reader(
            bench,
            [.newPassword: [.text(Secret(Self.new)), .text(Secret(Self.new)), .text("Better-horse-10")]],
            choosing: ["sms"]
        )
        _ = try await bench.clock.skippingWaits {
            try await bench.okta.recoverPassword(identifier: Self.eva, answering: reader)
        }
        #expect(reader.keys == [.phoneCode, .newPassword, .newPassword, .newPassword])
        #expect(bench.count("/idp/myaccount/password") == 3)
    }

    @Test func aDirectRecoveryIsSteppedAndSuspended() async throws {
        let bench = try Self.direct()
        let reader = Reader(bench, [.newPassword: [.text(Secret(Self.new))]], choosing: ["sms"])
        let flow = bench.okta.passwordRecoveryFlow(identifier: Self.eva)
        let session = try await SuspendedWalk(bench.okta, bench.clock, bench.transport).signIn(flow, answering: reader)
        #expect(session.login == Self.eva && reader.keys == [.phoneCode, .newPassword])
    }

    // MARK: Okta Verify on the device, Duo, consent

    /// A flow that begins with a search for Okta Verify goes on without it: nobody has wished for it.
    @Test func aDeviceIsLookedForInVain() async throws {
        let bench = try OktaSandboxBench(settings: { $0.okta.probesDevice = true })
        _ = try await bench.signIn(Reader(bench))
        #expect(bench.count("authenticators/poll/cancel") == 1 && bench.count("authenticators/poll") == 1)
    }

    /// Okta Verify on the device is opened by an address that the person is shown.
    @Test func oktaVerifyOnTheDevice() async throws {
        let bench = try OktaSandboxBench({
            var device = SandboxOktaUser.Factor("signed_nonce")
            device.script = ["WAITING", "SUCCESS"]
            $0.okta.factors = [device, .push("SUCCESS"), .init("token:software:totp")]
        })
        let reader = Reader(bench, choosing: ["signed_nonce"])
        _ = try await bench.signIn(reader)
        let shown = reader.shown.withLock { $0 }
        #expect(shown.map(\.key) == [.push] && shown.first?.url?.reveal().hasPrefix("com-okta-authenticator:") == true)
        #expect(bench.counters.pushes == 0 && bench.count("authenticators/poll/cancel") == 1)
        #expect(
            reader.offers.withLock { $0.first?.map(\.providerName) } == ["okta_verify", "google_otp", "signed_nonce"]
        )
        // By itself nobody is sent there.
        let other = Reader(bench)
        _ = try await bench.signIn(other)
        #expect(bench.counters.pushes == 1)
    }

    @Test func duosPageIsAQuestion() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("web"), .init("sms")] })
        struct Page: ChallengeResponder {
            let reader: Reader
            func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
                guard challenge.factor.providerName == "duo" else { return try await reader.answer(challenge) }
                let page = try JSONValue(parsing: challenge.setup?.reveal() ?? "null")
                #expect(page["host"]?.string == "api-sandbox.duosecurity.com")
                return .text(Secret((page["signedToken"]?.string ?? "").replacing("TX|", with: "AUTH|")))
            }
            func choose(among factors: [Factor]) async throws -> Factor? { try await reader.choose(among: factors) }
        }
        _ = try await bench.signIn(Page(reader: Reader(bench, choosing: ["duo"])))
        #expect(bench.counters.codeAttempts == 1 && bench.counters.codes == 0)
    }

    @Test(arguments: [true, false])
    func anAppWantsConsent(isGiven: Bool) async throws {
        let bench = try OktaSandboxBench(settings: { $0.okta.asksConsent = true })
        let reader = Reader(bench, [.text: [.text("perhaps"), .text(isGiven ? "Yes" : "no")]])
        do {
            _ = try await bench.signIn(reader)
            #expect(isGiven)
        } catch let error as RecoveryError {
            #expect(!isGiven && error.kind == .declined)
        }
        let prompt = reader.asked.withLock { $0.first?.prompt }
        #expect(prompt == "cli asks for your consent: Use openid; Use offline_access")
        #expect(reader.keys == [.text, .text] && bench.count("consent") == 1)
        #expect(await (bench.tokens.read().credentials.accessToken != nil) == isGiven)
    }

    // MARK: Passwords that expire soon

    @Test func aPasswordThatExpiresSoonMayBeKept() async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.passwordStatus = "warn" },
            configuration: { $0.warnsOfExpiry = true }
        )
        let reader = Reader(bench, [.newPassword: [.useAnotherFactor]])
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.newPassword] && bench.count("skip") == 1)
    }

    // MARK: The end

    @Test func aFlowIsEndedAtTheServer() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("sms")] })
        var flow = bench.okta.signInFlow(identifier: Self.eva, password: Secret(OktaSandboxBench.password))
        _ = try await bench.clock.skippingWaits { try await flow.step(.begin) }
        try await flow.abandon()
        let steps = bench.world.withLock { $0.world.okta.flows.values.map(\.step) }
        #expect(steps == [.identify])
    }

    // MARK: Tokens

    /// Says whether a token is signed as the test wants it.
    private struct Verifier: OAuthClient.SignatureVerifier {
        let accepts: Locked<Bool>

        func isSigned(_ token: Secret, withOneOf keys: JSONValue) -> Bool {
            keys["keys"]?.array != nil && accepts.withLock { $0 }
        }
    }

    private func verified() async throws -> (bench: OktaSandboxBench, accepts: Locked<Bool>, held: Credentials) {
        let accepts = Locked(true)
        let bench = try OktaSandboxBench(configuration: { $0.app?.signatures = Verifier(accepts: accepts) })
        _ = try await bench.signIn(Reader(bench))
        bench.clock.advance(by: .seconds(10))
        return (bench, accepts, await bench.tokens.read().credentials)
    }

    private static func idToken(_ credentials: Credentials) -> JSONValue? {
        credentials.others.first { $0.key == "id_token" }?.value
    }

    @Test func aRenewedIDTokenIsVerifiedToo() async throws {
        let (bench, accepts, held) = try await verified()
        let session = try await bench.okta.refresh()
        let renewed = await bench.tokens.read().credentials
        #expect(session.idToken?.subject != nil && Self.idToken(renewed) != Self.idToken(held))
        #expect(bench.count("/oauth2/v1/keys") == 1)
        accepts.withLock { $0 = false }
        bench.clock.advance(by: .seconds(10))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await bench.okta.refresh() }
        }
        #expect(error?.outcome.code == "signature_mismatch")
        // What nobody has signed is not kept, nor what came with it.
        #expect(await bench.tokens.read().credentials.accessToken == renewed.accessToken)
    }

    @Test func aRenewedIDTokenOfAnotherServerIsRefused() async throws {
        let bench = try OktaSandboxBench()
        _ = try await bench.signIn(Reader(bench))
        let held = await bench.tokens.read().credentials
        let strict = try bench.other({ $0.app?.issuer = "https://id.example.com" }, tokens: bench.tokens)
        bench.clock.advance(by: .seconds(10))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await strict.refresh() }
        }
        #expect(error?.outcome.code == "issuer_mismatch")
        #expect(await bench.tokens.read().credentials.accessToken == held.accessToken)
    }

    /// The keys cannot be had: the new tokens are kept, for the old refresh token is used up, and nobody is named anew.
    @Test func withoutKeysTheFormerIDTokenStays() async throws {
        let (bench, accepts, held) = try await verified()
        accepts.withLock { $0 = false }
        _ = bench.world.withLock { $0.world.faults.add(SandboxFault(.html, path: "/oauth2/v1/keys", times: 0)) }
        _ = try await bench.clock.skippingWaits { try await bench.okta.refresh() }
        let renewed = await bench.tokens.read().credentials
        #expect(renewed.accessToken != held.accessToken && renewed.refreshToken != held.refreshToken)
        #expect(Self.idToken(renewed) == Self.idToken(held))
    }

    /// Behind a domain of one's own the issuer has another name, which the app has to be told.
    @Test func anotherIssuerIsRefused() async throws {
        let bench = try OktaSandboxBench(configuration: { $0.app?.issuer = nil })
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(Reader(bench)) }
        #expect(error?.outcome.code == "issuer_mismatch")
        #expect(await bench.tokens.read().credentials == Credentials())
    }

    @Test func signingOutEndsTheBrowsersSession() async throws {
        let bench = try OktaSandboxBench(settings: { $0.okta.isIdentityEngine = false })
        _ = try await bench.signIn(Reader(bench))
        let browser = try bench.other { $0.app = nil }
        _ = try await bench.clock.skippingWaits {
            try await browser.signIn(
                identifier: Self.eva,
                password: Secret(OktaSandboxBench.password),
                answering: Reader(bench)
            )
        }
        #expect(try await browser.session() != nil)
        _ = try await bench.okta.signOut()
        #expect(bench.count("/oauth2/v1/logout?id_token_hint=") == 1)
        #expect(try await browser.session() == nil)
        #expect(await bench.tokens.read().credentials == Credentials())
    }

    @Test func aRequestCarriesItsBodyAndFields() async throws {
        let bench = try OktaSandboxBench()
        _ = try await bench.signIn(Reader(bench))
        let response = try await bench.okta.send(
            .put,
            path: "/api/v1/users/me",
            headerFields: [.ifMatch: "1"],
            body: .json(["profile": ["nickName": "Eva"]])
        )
        let told = try JSONValue(parsing: response.body.bytesInMemory ?? [])
        #expect(told["method"] == "PUT" && told["path"] == "/api/v1/users/me")
        let received = try #require(bench.transport.received.last)
        #expect(received.request.headerFields[.ifMatch] == "1" && received.text.contains("nickName"))
    }

    #if Cryptography
    @Test func tokensAreBoundToAKey() async throws {
        let bench = try OktaSandboxBench(
            configuration: { $0.app?.dpop = DPoPAuthorization.Binding(DPoPProver()) },
            settings: { $0.oauth.dpop = "required" }
        )
        _ = try await bench.signIn(Reader(bench))
        #expect(await bench.tokens.read().credentials.tokenType == "DPoP")
        let response = try await bench.okta.send(path: "/api/v1/users/me")
        #expect(response.status == .ok)
        _ = try await bench.okta.refresh()
    }
    #endif
}
