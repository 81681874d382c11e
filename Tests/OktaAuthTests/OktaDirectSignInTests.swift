import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Signing in by Direct Authentication")
struct OktaDirectSignInTests {
    private static func bench(_ steps: ScriptedTransport.Step...) throws -> OktaBench {
        try OktaBench.engine(steps, begins: false) { $0.way = .directAuthentication }
    }

    private static let second = ScriptedTransport.Step.status(
        403,
        [:],
        body:
            #"{"error":"mfa_required","error_description":"d","mfa_token":"fw1","supported_challenge_types":"http://auth0.com/oauth/grant-type/mfa-otp http://auth0.com/oauth/grant-type/mfa-oob"}"#
    )

    private static func refused(_ word: String, _ text: String = "", _ status: Int = 400) -> ScriptedTransport.Step {
        .status(status, [:], body: #"{"error":"\#(word)","error_description":"\#(text)"}"#)
    }

    private static func oob(_ method: String, _ more: String = "") -> ScriptedTransport.Step {
        .answer(#"{"oob_code":"ft1","expires_in":300,"binding_method":"\#(method)"\#(more)}"#)
    }

    private static let push = oob("transfer", #","interval":5,"channel":"push","binding_code":"41""#)

    /// The fields of a request that matter, in order.
    private static func form(_ bench: OktaBench, _ index: Int) -> [String: String] {
        let fields = FormFields(parsing: bench.transport.received[index].body)
        return Dictionary(fields.names.map { ($0, fields[$0].first?.reveal() ?? "") }) { first, _ in first }
    }

    private static let mfaOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    private static let mfaOOB = "http://auth0.com/oauth/grant-type/mfa-oob"

    @Test func thePasswordIsEnough() async throws {
        let bench = try Self.bench(.tokens)
        let session = try await bench.signIn()
        #expect(session.login == "ada@example.com" && bench.steps == ["/oauth2/v1/token"])
        #expect(
            Self.form(bench, 0) == [
                "grant_type": "password", "username": "ada@example.com", "password": "hunter2",
                "scope": "offline_access", "client_id": "0oa1",
            ]
        )
        #expect(try await bench.credentials.refreshToken == "R1")
    }

    @Test func aWrongPasswordIsAskedForAgainAndNoTokenIsLost() async throws {
        let wrong = Self.refused("invalid_grant", "The credentials provided were invalid.")
        let bench = try Self.bench(wrong, .tokens)
        let person = Person([.password: "better"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.password] && Self.form(bench, 1)["password"] == "better")
    }

    @Test func aCodeOfAnAppIsTheSecondFactor() async throws {
        let wrong = Self.refused("invalid_grant", "The 'otp' provided was incorrect.")
        let bench = try Self.bench(Self.second, wrong, .tokens)
        let person = Person([.totp: [.text("1"), .text("2")]], choosing: "otp")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.offers == [["otp", "push", "sms", "voice"]])
        #expect(
            Self.form(bench, 2) == [
                "grant_type": Self.mfaOTP, "mfa_token": "fw1", "otp": "2", "scope": "offline_access",
                "client_id": "0oa1",
            ]
        )
    }

    @Test func aPushIsShownItsNumberAndPolledAtTheServersPace() async throws {
        let pending = Self.refused("authorization_pending")
        let bench = try Self.bench(
            Self.second,
            Self.push,
            pending,
            Self.refused("slow_down"),
            .fail(.connectionLost, .unknown),
            .tokens
        )
        let person = Person([Factor.Key: Secret](), choosing: "push")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.shown.map(\.number) == ["41"] && person.keys.isEmpty)
        #expect(
            Self.form(bench, 1) == [
                "mfa_token": "fw1", "challenge_types_supported": Self.mfaOOB, "channel_hint": "push",
                "client_id": "0oa1",
            ]
        )
        #expect(bench.steps.filter { $0 == "/oauth2/v1/challenge" }.count == 1)
        #expect(
            bench.events.words.filter { $0.hasPrefix("wait") } == [
                "wait challenge_pending 5.0", "wait challenge_pending 5.0", "wait challenge_pending 10.0",
                "wait transport 10.0",
            ]
        )
        #expect(
            Self.form(bench, 5) == [
                "grant_type": Self.mfaOOB, "mfa_token": "fw1", "oob_code": "ft1", "scope": "offline_access",
                "client_id": "0oa1",
            ]
        )
    }

    @Test func aRejectedPushEndsIt() async throws {
        let no = Self.refused("invalid_grant", "The user rejected the out-of-band authentication.")
        let bench = try Self.bench(Self.second, Self.push, no)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([Factor.Key: Secret](), choosing: "push"))
        }
        #expect(error?.kind == .declined && bench.transport.received.count == 3)
    }

    /// Text messages have no interval: nothing is polled, the code is typed.
    @Test func aCodeByTextMessageIsTyped() async throws {
        let bench = try Self.bench(Self.second, Self.oob("prompt", #","channel":"sms""#), .tokens)
        _ = try await bench.signIn("hunter2", Person([.phoneCode: "1"], choosing: "sms"))
        let form = Self.form(bench, 2)
        #expect(form["binding_code"] == "1" && form["oob_code"] == "ft1" && form["grant_type"] == Self.mfaOOB)
    }

    @Test func aFactorThatThePersonHasNotIsLeft() async throws {
        let none = Self.refused("access_denied", "The required authenticator cannot be used.", 403)
        let bench = try Self.bench(Self.second, none, .tokens)
        _ = try await bench.signIn("hunter2", Person([.totp: "1"], choosing: "push"))
        #expect(bench.events.words.contains("fallback push totp"))
    }

    @Test func aFactorMayComeFirst() async throws {
        let bench = try Self.bench(Self.oob("none", #","interval":5"#), .tokens)
        let person = Person([.password: [.useAnotherFactor]], choosing: "push")
        _ = try await bench.signIn(nil, person)
        #expect(bench.steps == ["/oauth2/v1/primary-authenticate", "/oauth2/v1/token"])
        #expect(
            Self.form(bench, 0) == [
                "login_hint": "ada@example.com", "challenge_hint": "urn:okta:params:oauth:grant-type:oob",
                "channel_hint": "push", "client_id": "0oa1",
            ]
        )
        #expect(Self.form(bench, 1)["grant_type"] == "urn:okta:params:oauth:grant-type:oob")
    }

    // MARK: Answers that are lost

    @Test func aLostAnswerToThePasswordIsAskedForAnew() async throws {
        let bench = try Self.bench(.fail(.connectionLost, .unknown), .tokens)
        let person = Person([.password: "hunter2"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.password] && bench.transport.received.count == 2)
    }

    /// Where that is the end of it, nothing is offered that would present the password again by itself.
    @Test(arguments: [
        ScriptedTransport.Step.fail(.connectionLost, .unknown), .status(502), .fail(.truncated, .answered),
    ])
    func aLostAnswerOffersNoBlindRepetition(loss: ScriptedTransport.Step) async throws {
        let bench = try Self.bench(loss, loss, loss, loss, loss)
        let person = Person([.password: Array(repeating: .text("hunter2"), count: 5)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", person, options: SignInOptions(maxRounds: 2))
        }
        #expect(error?.outcome.processed != .no && error?.remedies == [.resync, .askUser])
        #expect(bench.transport.received.count == person.keys.count + 1)
    }

    @Test func aPushWhoseAnswerWasLostIsSentAgainOnlyIfThePersonWantsIt() async throws {
        let bench = try Self.bench(Self.second, .fail(.connectionLost, .unknown), Self.push, .tokens)
        let person = Person([.push: [.resend]], choosing: "push")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.push] && person.questions[0].previousFailure?.kind == .transport)
        #expect(person.questions[0].previousFailure?.remedies == [.newChallenge, .switchFactor])
        let silent = try Self.bench(Self.second, .fail(.connectionLost, .unknown))
        let error = await #expect(throws: RecoveryError.self) {
            try await silent.signIn("hunter2", Person([.push: "x"], choosing: "push"))
        }
        #expect(error?.remedies == [.newChallenge, .switchFactor])
        #expect(silent.transport.received.count == 2)
    }

    /// The code that was sent is still good: another answer to it is asked for, and no other code is sent.
    @Test func aCodeWhoseAnswerWasLostIsAskedForAgainAndNotSentAgain() async throws {
        let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)
        let bench = try Self.bench(Self.second, Self.oob("prompt"), lost, lost, .tokens)
        let person = Person([.phoneCode: [.text("1"), .text("1"), .text("1")]], choosing: "sms")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.phoneCode, .phoneCode, .phoneCode])
        #expect(
            bench.steps == ["/oauth2/v1/token", "/oauth2/v1/challenge"] + Array(repeating: "/oauth2/v1/token", count: 3)
        )
    }

    /// Nobody knows what a code belongs to whose sending was not answered: it is not presented, and another is a wish.
    @Test func aCodeWhoseSendingWasNotAnsweredIsSentAgainByAWishAlone() async throws {
        let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)
        let bench = try Self.bench(Self.second, lost, Self.oob("prompt"), .tokens)
        let person = Person([.phoneCode: [.text("1"), .resend, .text("2")]], choosing: "sms")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.phoneCode, .phoneCode, .phoneCode])
        #expect(person.questions[1].previousFailure?.userMessage?.contains("sent") == true)
        #expect(
            bench.steps == ["/oauth2/v1/token", "/oauth2/v1/challenge", "/oauth2/v1/challenge", "/oauth2/v1/token"]
        )
    }

    @Test func aDeadProofBeginsTheSignInAgainWithoutThePassword() async throws {
        let dead = Self.refused("access_denied", "The 'mfa_token' has expired.", 403)
        let bench = try Self.bench(Self.second, dead, .tokens)
        let person = Person([.totp: "1", .password: "hunter2"], choosing: "otp")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.totp, .password])
    }

    #if Cryptography
    @Test func aKeySigns() async throws {
        struct Signing: WebAuthn.Authenticator {
            func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
                throw WebAuthn.Failure.unsupported()
            }

            func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
                WebAuthn.Assertion(
                    credentialID: request.allowedCredentials[0],
                    clientDataJSON: request.challenge,
                    authenticatorData: Array(request.relyingPartyID.utf8),
                    signature: [3],
                    userHandle: [4]
                )
            }
        }
        let options = ScriptedTransport.Step.answer(
            #"{"challengeType":"x","publicKey":{"challenge":"AQID","allowCredentials":[{"type":"public-key","id":"Bw"}],"extensions":{"appid":"https://app.example.com"}}}"#
        )
        let bench = try OktaBench.engine([options, .tokens], begins: false) {
            $0.way = .directAuthentication
            $0.authenticator = Signing()
        }
        let person = Person([.password: [.useAnotherFactor]], choosing: "webauthn")
        _ = try await bench.signIn(nil, person)
        let form = Self.form(bench, 1)
        #expect(form["grant_type"] == "urn:okta:params:oauth:grant-type:webauthn" && form["signature"] == "Aw")
        #expect(form["clientDataJSON"] == "AQID" && form["userHandle"] == "BA")
        #expect(form["authenticatorData"] == Base64.encodeForURL("app.example.com".utf8))
    }
    #endif
}
