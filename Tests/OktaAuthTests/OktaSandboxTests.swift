import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing
import WebAuthnTesting

@testable import AuthSandbox

@Suite("A sandbox on the identity engine")
struct OktaSandboxTests {
    @Test func thePasswordIsEnough() async throws {
        let bench = try OktaSandboxBench()
        let session = try await bench.signIn(Reader(bench))
        #expect(session.login == OktaSandboxBench.eva)
        let held = await bench.tokens.read().credentials
        #expect(held.accessToken != nil && held.refreshToken != nil)
        #expect(bench.counters.passwordAttempts == 1)
        #expect(
            bench.paths == [
                "/.well-known/okta-organization", "/oauth2/v1/interact", "introspect", "identify", "challenge/answer",
                "/oauth2/v1/token",
            ]
        )
    }

    @Test func nameAndPasswordInOneForm() async throws {
        let bench = try OktaSandboxBench(settings: { $0.okta.identifiesWithPassword = true })
        _ = try await bench.signIn(
            Reader(bench, [.password: [.text(Secret(OktaSandboxBench.password))]]),
            password: "no"
        )
        #expect(bench.counters.passwordAttempts == 2)
    }

    @Test func aWrongPasswordIsAskedForAgain() async throws {
        let bench = try OktaSandboxBench()
        let reader = Reader(bench, [.password: [.text(Secret(OktaSandboxBench.password))]])
        _ = try await bench.signIn(reader, password: "wrong")
        #expect(reader.keys == [.password] && bench.counters.passwordAttempts == 2)
    }

    @Test func aCodeOfAnApp() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("token:software:totp")] })
        let reader = Reader(bench, [.totp: [.text("000000")]])
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.totp, .totp])
        #expect(reader.asked.withLock { $0.last?.previousFailure?.kind } == .challengeIncorrect)
    }

    @Test(arguments: ["sms", "voice", "okta_email"])
    func aCodeThatIsSent(choice: String) async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.init("sms"), .init("email")] },
            settings: { ($0.okta.phoneWindow, $0.okta.emailWindow) = (0, 0) }
        )
        let key: Factor.Key = choice == "okta_email" ? .emailCode : .phoneCode
        let reader = Reader(bench, [key: [.resend]], choosing: [choice])
        _ = try await bench.signIn(reader)
        #expect(bench.counters.codes == 2)
        #expect(reader.keys == [key, key])
        #expect(reader.offers.withLock { $0.first?.map { $0.providerName } } == ["sms", "voice", "okta_email"])
    }

    @Test func aPushWithANumber() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.push("WAITING", "WAITING", "SUCCESS", number: "42")] })
        let reader = Reader(bench)
        _ = try await bench.signIn(reader)
        #expect(reader.shown.withLock { $0.map(\.number) } == ["42"])
        #expect(bench.counters.pushes == 1 && bench.count("challenge/poll") == 3)
    }

    @Test func aPushThatIsRejected() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.push("WAITING", "REJECTED")] })
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(Reader(bench)) }
        #expect(error?.kind == .declined && bench.counters.pushes == 1)
    }

    @Test func anotherFactorIsTaken() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("sms"), .init("question")] })
        let reader = Reader(
            bench,
            [.phoneCode: [.useAnotherFactor], .securityAnswer: [.text("Rex")]],
            choosing: ["sms", "security_question"]
        )
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.phoneCode, .securityAnswer])
        #expect(reader.asked.withLock { $0.last?.prompt } == "What is the name of your first pet?")
    }

    @Test func anExpiredPassword() async throws {
        let bench = try OktaSandboxBench({ $0.okta.passwordStatus = "expired" })
        let reader = Reader(bench, [.newPassword: [.text("short"), .text("Correct-horse-9")]])
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.newPassword, .newPassword])
        #expect(reader.notices.withLock { $0.first?.kind } == .passwordExpired)
    }

    @Test(arguments: [false, true])
    func aPasswordThatExpiresSoon(warns: Bool) async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.passwordStatus = "warn" },
            configuration: { $0.warnsOfExpiry = warns }
        )
        let reader = Reader(bench, [.newPassword: [.text("Correct-horse-9")]])
        _ = try await bench.signIn(reader)
        #expect(reader.keys == (warns ? [.newPassword] : []))
        #expect(reader.notices.withLock { $0.map(\.userMessage) } == (warns ? ["The password expires in 5 days."] : []))
    }

    @Test func aForgottenPassword() async throws {
        let bench = try OktaSandboxBench()
        let reader = Reader(bench, [.newPassword: [.text("Correct-horse-9")]], choosing: ["okta_email"])
        let session = try await bench.clock.skippingWaits {
            try await bench.okta.recoverPassword(identifier: OktaSandboxBench.eva, answering: reader)
        }
        #expect(session.login == OktaSandboxBench.eva)
        #expect(reader.keys == [.emailCode, .newPassword] && bench.counters.passwordAttempts == 0)
    }

    @Test func aForgottenPasswordInTheMiddle() async throws {
        let bench = try OktaSandboxBench()
        let reader = Reader(
            bench,
            [.password: [.useAnotherFactor], .newPassword: [.text("Correct-horse-9")]],
            choosing: ["recover", "okta_email"]
        )
        _ = try await bench.signIn(reader, password: nil)
        #expect(reader.keys == [.password, .emailCode, .newPassword])
    }

    @Test func aLockedAccountIsUnlocked() async throws {
        let bench = try OktaSandboxBench({
            $0.initialLock = .indefinite
            $0.okta.showsLockout = true
        })
        let reader = Reader(
            bench,
            [.password: [.text(Secret(OktaSandboxBench.password))]],
            choosing: ["unlock-account", "okta_email"]
        )
        let session = try await bench.signIn(reader)
        #expect(session.login == OktaSandboxBench.eva)
        #expect(reader.keys == [.emailCode, .password])
    }

    @Test(arguments: ["sms", "token:software:totp", "question", "push", "email"])
    func aFactorIsEnrolled(type: String) async throws {
        let bench = try OktaSandboxBench({ $0.okta.enrollments = [.init(type), .init("webauthn", isRequired: false)] })
        let reader = Reader(bench, [.phoneNumber: [.text("+4930999999")]])
        _ = try await bench.signIn(reader)
        let held = bench.world.withLock { $0.world.okta.account(named: OktaSandboxBench.eva)?.factors.map(\.type) }
        #expect(held == [type])
    }

    #if Cryptography
    @Test func aKeyIsEnrolledAndThenSigns() async throws {
        let authenticator = SoftwareAuthenticator()
        let bench = try OktaSandboxBench(
            { $0.okta.enrollments = [.init("webauthn")] },
            configuration: { $0.authenticator = authenticator }
        )
        _ = try await bench.signIn(Reader(bench))
        #expect(authenticator.credentialIDs.count == 1)
        let again = Reader(bench)
        _ = try await bench.signIn(again)
        #expect(again.keys.isEmpty && bench.count("challenge") == 5)
    }
    #endif

    /// Each step that spends something loses its answer after it was processed: nothing goes out twice.
    @Test(arguments: ["challenge/answer", "challenge", "identify", "interact", "introspect"])
    func anAnswerThatIsLost(path: String) async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("sms")] })
        bench.losses.withLock { $0 = ["/" + path] }
        let reader = Reader(bench)
        _ = try await bench.signIn(reader)
        #expect(bench.counters.passwordAttempts == 1 && bench.counters.codes == 1)
        #expect(bench.count("challenge/answer") == 2)
    }

    /// Each loss is read at the server, however many there are on the way.
    @Test(arguments: [
        ["challenge/answer", "challenge"], ["challenge", "challenge/answer"], ["identify", "challenge/answer"],
        ["challenge/answer", "challenge", "challenge/answer"], ["identify", "challenge/answer", "challenge"],
    ])
    func severalAnswersThatAreLost(paths: [String]) async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("sms")] })
        bench.losses.withLock { $0 = paths.map { "/" + $0 } }
        _ = try await bench.signIn(Reader(bench))
        #expect(bench.losses.withLock { $0 }.isEmpty)
        #expect(bench.counters.passwordAttempts == 1 && bench.counters.codes == 1)
        #expect(bench.count("challenge/answer") == 2)
    }

    /// The lost answer had the flow's new proof: where the flow stands is read, and nobody types anything again.
    @Test func aPollWhoseAnswerIsLost() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.push("WAITING", "WAITING", "SUCCESS", number: "42")] })
        bench.losses.withLock { $0 = ["/challenge/poll", "/challenge/poll"] }
        let reader = Reader(bench)
        _ = try await bench.signIn(reader)
        #expect(reader.keys.isEmpty && bench.counters.passwordAttempts == 1 && bench.counters.pushes == 1)
        #expect(bench.count("introspect") == 3)
    }

    @Test func aChoiceWhoseAnswerIsLost() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("token:software:totp")] })
        bench.losses.withLock { $0 = ["/idp/idx/challenge"] }
        let reader = Reader(bench)
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.totp] && bench.counters.passwordAttempts == 1)
    }

    /// The app shows another code in half a minute at the latest; before that nobody is asked for one.
    @Test func aCodeIsTakenOnce() async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.init("token:software:totp")] },
            settings: { $0.isTOTPSingleUse = true }
        )
        bench.clock.advance(by: .seconds(10))
        let used = Secret(bench.totp())
        _ = try await bench.signIn(Reader(bench, [.totp: [.text(used)]]))
        let reader = Reader(bench, [.totp: [.text(used)]])
        _ = try await bench.signIn(reader)
        #expect(reader.keys == [.totp, .totp] && bench.clock.requestedDelays == [.seconds(20)])
        #expect(
            reader.notices.withLock { $0.map(\.code) } == ["authfactor.challenge.soft_token.used_passcode"]
        )
    }

    @Test func aCodeWhoseExchangeIsLost() async throws {
        let bench = try OktaSandboxBench()
        bench.losses.withLock { $0 = ["/v1/token"] }
        let reader = Reader(bench, [.password: [.text(Secret(OktaSandboxBench.password))]])
        _ = try await bench.signIn(reader)
        // The code was not sent twice; the person has typed the password anew.
        #expect(bench.count("/oauth2/v1/token") == 2 && reader.keys == [.password])
    }

    @Test func anAppWithoutTheGrantGoesTheOtherWay() async throws {
        let bench = try OktaSandboxBench(settings: { $0.okta.allowsInteractionCode = false })
        _ = try await bench.signIn(Reader(bench))
        #expect(bench.count("/api/v1/authn") == 1 && bench.counters.passwordAttempts == 1)
    }

    /// What the app may use, the org lists.
    @Test func anAppOfDirectAuthenticationGoesThatWay() async throws {
        let grants = ["password", "urn:okta:params:oauth:grant-type:otp", "http://auth0.com/oauth/grant-type/mfa-otp"]
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.init("token:software:totp")] },
            settings: { $0.okta.appGrants = grants }
        )
        let session = try await bench.signIn(Reader(bench, choosing: ["otp"]))
        #expect(session.login == OktaSandboxBench.eva && session.idToken != nil)
        #expect(bench.count("/api/v1/authn") == 0 && bench.counters.passwordAttempts == 1)
        // Without them, or without a password, it is none of that.
        for grants in [["authorization_code", "refresh_token"], [grants[1], "refresh_token"]] {
            let other = try OktaSandboxBench(settings: { $0.okta.appGrants = grants })
            _ = try await other.signIn(Reader(other))
            #expect(other.count("/api/v1/authn") == 1 && other.counters.passwordAttempts == 1)
        }
    }

    @Test func aClassicOrgIsAskedOnce() async throws {
        let bench = try OktaSandboxBench(settings: { $0.okta.isIdentityEngine = false })
        _ = try await bench.signIn(Reader(bench))
        _ = try await bench.signIn(Reader(bench))
        #expect(bench.count("/.well-known") == 1 && bench.count("/api/v1/authn") == 2)
        #expect(try await bench.okta.pipeline() == .classic)
    }

    @Test func itIsSteppedAndSuspended() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("sms"), .push("WAITING", "SUCCESS", number: "7")] })
        let reader = Reader(bench, choosing: ["okta_verify"])
        let flow = bench.okta.signInFlow(identifier: OktaSandboxBench.eva, password: Secret(OktaSandboxBench.password))
        let session = try await SuspendedWalk(bench.okta, bench.clock, bench.transport).signIn(flow, answering: reader)
        #expect(session.login == OktaSandboxBench.eva && bench.counters.pushes == 1)
    }

    @Test func aSuspendedFactorIsLeft() async throws {
        let bench = try OktaSandboxBench({ $0.okta.factors = [.init("sms"), .init("question")] })
        var options = SignInOptions.okta
        options.maxRounds = 9
        let wrong = [Challenge.Answer](repeating: .text("1"), count: 5)
        let reader = Reader(
            bench,
            [.phoneCode: wrong, .securityAnswer: [.text("Rex")]],
            choosing: ["sms", "security_question"]
        )
        _ = try await bench.signIn(reader, options: options)
        #expect(reader.keys.last == .securityAnswer && reader.keys.count == 6)
    }

    @Test func aFlowThatHasEndedIsBegunAgain() async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.init("sms")] },
            settings: { $0.okta.transactionLife = 1000 }
        )
        struct Slow: ChallengeResponder {
            let reader: Reader
            func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
                if challenge.round == 1, reader.keys.isEmpty { reader.bench.clock.advance(by: .seconds(35)) }
                return try await reader.answer(challenge)
            }
        }
        let reader = Reader(bench, [.password: [.text(Secret(OktaSandboxBench.password))]])
        _ = try await bench.signIn(Slow(reader: reader))
        #expect(reader.keys == [.phoneCode, .password, .phoneCode])
    }

    @Test(arguments: ["otp", "push", "sms"])
    func directAuthentication(choice: String) async throws {
        let bench = try OktaSandboxBench(
            {
                $0.okta.factors = [
                    .init("token:software:totp"), .push("WAITING", "SUCCESS", number: "9"), .init("sms"),
                ]
            },
            configuration: { $0.way = .directAuthentication }
        )
        let reader = Reader(bench, choosing: [choice])
        let session = try await bench.signIn(reader)
        #expect(session.login == OktaSandboxBench.eva && session.idToken?.subject != nil)
        #expect(bench.counters.passwordAttempts == 1)
        #expect(bench.counters.pushes == (choice == "push" ? 1 : 0))
        #expect(reader.shown.withLock { $0.map(\.number) } == (choice == "push" ? ["9"] : []))
    }
}
