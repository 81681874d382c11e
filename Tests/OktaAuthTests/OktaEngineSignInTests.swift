import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Signing in at the identity engine")
struct OktaEngineSignInTests {
    static let typed = "challenge/answer {credentials:{passcode:hunter2}}"
    private static let begun = ["/oauth2/v1/interact", "introspect {interactionHandle:IH}"]
    private static let named = begun + ["identify {identifier:ada@example.com}"]
    static let asked = ScriptedTransport.Step.ion(Ion.answer, more: Ion.password)
    private static let others = Ion.select(
        "select-authenticator-authenticate",
        ("aut1", "sms", "$.authenticatorEnrollments.value[0]"),
        ("aut2", "otp", "$.authenticatorEnrollments.value[1]")
    )
    private static let enrollments =
        #""authenticatorEnrollments":{"type":"array","value":[{"type":"phone","key":"phone_number","id":"eae1","profile":{"phoneNumber":"+1 XXX-XXX-1337"}},{"type":"app","key":"google_otp","id":"eae2"}]}"#

    private static func phone(_ more: String = "") -> String {
        #""currentAuthenticatorEnrollment":{"value":{"type":"phone","key":"phone_number","id":"eae1","methods":[{"type":"sms"}],\#(Ion.resend)}},\#(enrollments)"#
    }

    @Test func theOrgIsAskedWhatItRunsOnAndTheFlowEndsInTokens() async throws {
        let bench = try OktaBench.engine(
            [.pipeline, .interact, .ion(Ion.identify), Self.asked, .interactionCode, .tokens],
            begins: false
        ) { $0.way = .automatic }
        let session = try await bench.signIn()
        #expect(session.userID == "00u1" && session.login == "ada@example.com" && session.id == nil)
        #expect(bench.steps == ["/.well-known/okta-organization"] + Self.named + [Self.typed, "/oauth2/v1/token"])
        let held = try await bench.credentials
        #expect(held.accessToken == "A1" && held.refreshToken == "R1")
        let interact = FormFields(parsing: bench.transport.received[1].body)
        let token = FormFields(parsing: bench.transport.received.last?.body ?? [])
        #expect(interact["code_challenge_method"].first == "S256" && interact["client_id"].count == 1)
        #expect(token["grant_type"].first == "interaction_code" && token["interaction_code"].first == "IC")
        let verifier = try #require(token["code_verifier"].first)
        #expect(OAuthClient.ProofKey(verifier: verifier)?.challenge == interact["code_challenge"].first?.reveal())
        let introspect = bench.transport.received[2].request
        #expect(introspect.headerFields[.accept] == "application/ion+json; okta-version=1.0.0")
        #expect(!bench.events.events.map { "\($0)" }.joined().contains("hunter2"))
    }

    /// What does not say what it runs on is asked by what spends nothing, before a password goes anywhere.
    @Test(
        arguments: [
            (#"{"pipeline":"v1"}"#, 200, nil), ("<html>", 404, (400, #"{"error":"access_denied"}"#)),
            ("{}", 200, (404, "<html>")), ("{}", 200, (404, #"{"errorCode":"E0000022"}"#)),
        ] as [(String, Int, (Int, String)?)]
    )
    func anyOtherOrgIsSignedInToByItsAuthenticationAPI(
        body: String,
        status: Int,
        refusal: (status: Int, body: String)?
    ) async throws {
        let code = ScriptedTransport.Step.run { received in
            let query = FormFields(parsing: (received.request.path ?? "").utf8.drop { $0 != 0x3F }.dropFirst())
            return .scripted(
                302,
                ["location": "com.example:/callback?code=c&state=\(query["state"].first?.reveal() ?? "")"]
            )
        }
        let asked = refusal.map { [ScriptedTransport.Step.status($0.status, [:], body: $0.body)] } ?? []
        let steps = [.status(status, [:], body: body)] + asked + [.success(), code, .tokens]
        let bench = try OktaBench.engine(steps, begins: false) { $0.way = .automatic }
        _ = try await bench.signIn()
        #expect(bench.sent[1 + asked.count] == "/authn {username:ada@example.com,password:hunter2}")
    }

    @Test(arguments: [ScriptedTransport.Step.status(403), .status(401, [:], body: Recorded.error("E0000011"))])
    func anOrgThatDoesNotSaySoMayRunOnTheEngine(refusal: ScriptedTransport.Step) async throws {
        let bench = try OktaBench.engine(
            [
                refusal, .interact, .ion(Ion.identify), .ion(Ion.answer, more: Ion.password), .interactionCode, .tokens,
            ],
            begins: false
        ) { $0.way = .automatic }
        _ = try await bench.signIn()
        #expect(!bench.sent.contains { $0.hasPrefix("/authn") })
    }

    /// An outage of that question says nothing of the org: it is asked again as anything that is read, and then the engine is
    /// tried, which spends nothing to find out.
    @Test(arguments: [ScriptedTransport.Step.status(503), .fail(.connectionLost, .unknown), .fail(.timedOut, .unknown)])
    func anOutageOfTheQuestionIsNotTheEnd(outage: ScriptedTransport.Step) async throws {
        let flow: [ScriptedTransport.Step] = [
            .interact, .ion(Ion.identify), Self.asked, .interactionCode, .tokens,
        ]
        for (outages, asked) in [([outage, .pipeline], 2), ([outage, outage, outage], 3)] {
            let bench = try OktaBench.engine(outages + flow, begins: false) { $0.way = .automatic }
            _ = try await bench.signIn()
            #expect(
                bench.steps == Array(repeating: "/.well-known/okta-organization", count: asked) + Self.named + [
                    Self.typed, "/oauth2/v1/token",
                ]
            )
        }
        // An org of which nothing answers is said to be away, and no password has left.
        let bench = try OktaBench.engine(Array(repeating: outage, count: 20), begins: false) { $0.way = .automatic }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error.map { [.unavailable, .transport, .timedOut].contains($0.kind) } == true)
        #expect(!bench.transport.received.contains { $0.text.contains("hunter2") })
    }

    @Test func somebodyWithoutAnAccountSignsUp() async throws {
        let signUp = Ion.form("select-enroll-profile", "enroll")
        let profile = Ion.form(
            "enroll-profile",
            "enroll/new",
            Ion.object("userProfile", Ion.field("lastName", #""label":"Last name""#))
        )
        let bench = try OktaBench.engine([
            .ion(Ion.identify, signUp), .ion(Ion.answer, signUp, more: Ion.password), .ion(profile), .interactionCode,
            .tokens,
        ])
        let person = Person(
            [.password: [.useAnotherFactor], .text: [.text("Lovelace")]],
            choosing: "select-enroll-profile"
        )
        _ = try await bench.signIn(nil, person)
        #expect(bench.steps.contains("enroll") && bench.steps.contains("enroll/new {userProfile:{lastName:Lovelace}}"))
    }

    @Test(arguments: ["access_denied", "unauthorized_client"])
    func anAppThatMayNotUseTheFlowGoesTheOtherWay(word: String) async throws {
        let refused = ScriptedTransport.Step.status(400, [:], body: #"{"error":"\#(word)"}"#)
        let bench = try OktaBench.engine([.pipeline, refused, .success("20111")], begins: false) { $0.way = .automatic }
        _ = try? await bench.signIn()
        #expect(bench.sent[2] == "/authn {username:ada@example.com,password:hunter2}")
        // Who wants no other way is told.
        let strict = try OktaBench.engine([refused], begins: false)
        let error = await #expect(throws: RecoveryError.self) { try await strict.signIn() }
        #expect(error?.kind == .misconfigured)
    }

    @Test func aWrongPasswordIsAskedForAgainAndNotRepeated() async throws {
        let wrong = ScriptedTransport.Step.ion(
            Ion.answer,
            more: "\(Ion.password),\(Ion.message("errors.E0000004"))",
            status: 401
        )
        let bench = try OktaBench.engine([.ion(Ion.identify), Self.asked, wrong, .interactionCode, .tokens])
        let person = Person([.password: "better"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.password] && person.texts == ["Told."])
        #expect(
            bench.steps.dropFirst(3) == [
                Self.typed, "challenge/answer {credentials:{passcode:better}}", "/oauth2/v1/token",
            ]
        )
    }

    @Test func nameAndPasswordGoTogetherIfTheFormTakesBoth() async throws {
        let form = Ion.form(
            "identify",
            "identify",
            Ion.field("identifier"),
            Ion.passcode,
            #"{"name":"rememberMe","type":"boolean"}"#
        )
        let bench = try OktaBench.engine([.ion(form), .interactionCode, .tokens]) { $0.remembersDevice = true }
        _ = try await bench.signIn()
        #expect(
            bench.steps[2]
                == "identify {identifier:ada@example.com,credentials:{passcode:hunter2},rememberMe:true}"
        )
    }

    @Test func aCodeIsSentForTheFactorThatWasChosenAndSentAgain() async throws {
        let challenge = ScriptedTransport.Step.ion(Ion.answer, Self.others, more: Self.phone())
        let wrong = ScriptedTransport.Step.ion(
            Ion.form(
                "challenge-authenticator",
                "challenge/answer",
                Ion.object("credentials", Ion.field("passcode", Ion.message("api.authn.error.PASSCODE_INVALID")))
            ),
            Self.others,
            more: Self.phone(),
            status: 401
        )
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, .ion(Self.others, more: Self.enrollments), challenge, challenge, wrong,
            .interactionCode, .tokens,
        ])
        let person = Person([.phoneCode: [.resend, .text("1"), .text("2")]], choosing: "sms")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.offers == [["sms", "google_otp"]] && person.destinations == [["+1 XXX-XXX-1337", nil]])
        #expect(person.questions.last?.previousFailure?.parameter == "credentials.passcode")
        #expect(
            bench.steps.dropFirst(4) == [
                "challenge {authenticator:{id:aut1,methodType:sms}}", "challenge/resend",
                "challenge/answer {credentials:{passcode:1}}", "challenge/answer {credentials:{passcode:2}}",
                "/oauth2/v1/token",
            ]
        )
    }

    @Test func thePersonMayWantAnotherFactor() async throws {
        let challenge = ScriptedTransport.Step.ion(Ion.answer, Self.others, more: Self.phone())
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, .ion(Self.others, more: Self.enrollments), challenge,
            .ion(Ion.answer, Self.others, more: Ion.current("google_otp", "otp") + "," + Self.enrollments),
            .interactionCode, .tokens,
        ])
        let person = Person([.phoneCode: [.useAnotherFactor], .totp: [.text("3")]], choosing: "sms")
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.steps[5] == "challenge {authenticator:{id:aut2,methodType:otp}}")
        #expect(bench.steps[6] == "challenge/answer {credentials:{passcode:3}}")
    }

    // MARK: Push

    static func waiting(_ number: String? = nil) -> ScriptedTransport.Step {
        let context = number.map { #""contextualData":{"correctAnswer":"\#($0)"}"# } ?? ""
        return .ion(
            Ion.form("challenge-poll", "authenticators/poll", more: #","refresh":2000"#),
            more: Ion.current("okta_verify", "push", context)
        )
    }

    @Test func aPushIsPolledAtTheServersPaceWithItsNumber() async throws {
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, Self.waiting("41"), Self.waiting("41"), .fail(.connectionLost, .unknown),
            Self.waiting("41"), .interactionCode, .tokens,
        ])
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        #expect(person.shown.map(\.number) == ["41"] && person.keys.isEmpty)
        // After the answer that was lost, where the flow stands is read.
        #expect(bench.steps.filter { $0 == "authenticators/poll" }.count == 3)
        #expect(bench.steps[6] == "introspect {stateToken:H}")
        #expect(bench.events.words.filter { $0 == "wait challenge_pending 2.0" }.count == 3)
    }

    @Test func aRejectedPushEndsIt() async throws {
        let no = ScriptedTransport.Step.ion(
            Self.others,
            more: Ion.message("api.authn.poll.error.push_rejected"),
            status: 400
        )
        let bench = try OktaBench.engine([.ion(Ion.identify), Self.asked, Self.waiting(), no])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .declined && bench.transport.received.count == 5)
    }

    // MARK: Answers that are lost

    /// The state is read; the same form again means that nobody knows, so the person is asked.
    @Test func aLostAnswerToThePasswordIsReadAndThePersonAsked() async throws {
        let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, lost, Self.asked, .interactionCode, .tokens,
        ])
        _ = try await bench.signIn("hunter2", Person([.password: "hunter2"]))
        #expect(bench.steps[4] == "introspect {stateToken:H}")
        #expect(bench.steps.filter { $0 == Self.typed }.count == 2)
        // Another form: it worked.
        let worked = try OktaBench.engine([.ion(Ion.identify), Self.asked, lost, .interactionCode, .tokens])
        _ = try await worked.signIn()
        #expect(worked.steps.filter { $0 == Self.typed }.count == 1)
    }

    @Test func aCodeWhoseExchangeIsLostIsNotSentTwice() async throws {
        let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, .interactionCode, lost, .interact, .ion(Ion.identify), Self.asked,
            .interactionCode, .tokens,
        ])
        let person = Person([.password: "hunter2"])
        _ = try await bench.signIn("hunter2", person)
        // The machine types no password twice.
        #expect(person.keys == [.password])
        #expect(bench.steps.filter { $0 == "/oauth2/v1/interact" }.count == 2)
    }

    @Test func aFlowThatHasEndedIsBegunAgainOnce() async throws {
        let over = ScriptedTransport.Step.ion(more: Ion.message("idx.session.expired"), status: 401)
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, over, .interact, .ion(Ion.identify), Self.asked, over,
        ])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.password: "hunter2"]))
        }
        #expect(error?.kind == .flowExpired && bench.transport.received.count == 8)
    }

    // MARK: Passwords

    @Test func anExpiredPasswordIsChanged() async throws {
        let form = Ion.form("reenroll-authenticator", "challenge/answer", Ion.passcode)
        let rules =
            #""currentAuthenticator":{"value":{"type":"password","key":"okta_password","settings":{"complexity":{"minLength":8}}}}"#
        let weak = ScriptedTransport.Step.ion(
            form,
            more: "\(rules),\(Ion.message("password.passwordRequirementsNotMet"))",
            status: 400
        )
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, .ion(form, more: rules, status: 403), weak, .interactionCode, .tokens,
        ])
        let person = Person([.newPassword: [.text("short"), .text("longer-one")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.first?.hint == "at least 8 characters")
        #expect(person.notices.first == .passwordExpired && person.notices.last == .passwordRejected)
        #expect(bench.steps[5] == "challenge/answer {credentials:{passcode:longer-one}}")
    }

    @Test(arguments: [false, true])
    func aPasswordThatExpiresSoonMayStay(warns: Bool) async throws {
        let form = Ion.form("reenroll-authenticator-warning", "challenge/answer", Ion.passcode)
        let age =
            #""currentAuthenticator":{"value":{"type":"password","key":"okta_password","settings":{"daysToExpiry":3}}}"#
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, .ion(form, Ion.skip, more: age), .interactionCode, .tokens,
        ]) { $0.warnsOfExpiry = warns }
        let person = Person([.newPassword: "better"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.texts == (warns ? ["The password expires in 3 days."] : []))
        #expect(bench.steps[4] == (warns ? "challenge/answer {credentials:{passcode:better}}" : "skip"))
    }

    @Test func aForgottenPasswordIsRecovered() async throws {
        let recover = #""recover":\#(Ion.form("recover", "recover"))"#
        let mail = Ion.select("select-authenticator-authenticate", ("aut1", "email", "$.nothing.value[4]"))
        let bench = try OktaBench.engine([
            .ion(Ion.identify), .ion(Ion.answer, more: Ion.current("okta_password", "password", recover)), .ion(mail),
            .ion(Ion.answer, more: Ion.current("okta_email", "email")),
            .ion(Ion.form("reset-authenticator", "challenge/answer", Ion.passcode)), .interactionCode, .tokens,
        ])
        let person = Person([.emailCode: "1", .newPassword: "better"])
        _ = try await bench.skippingWaits {
            try await bench.okta.recoverPassword(identifier: OktaBench.identifier, answering: person)
        }
        #expect(
            bench.steps.dropFirst(3) == [
                "recover", "challenge {authenticator:{id:aut1,methodType:email}}",
                "challenge/answer {credentials:{passcode:1}}", "challenge/answer {credentials:{passcode:better}}",
                "/oauth2/v1/token",
            ]
        )
    }

    @Test func aLockedAccountIsUnlockedIfThePersonWantsIt() async throws {
        let unlock = Ion.form("unlock-account", "unlock-account")
        let locked = ScriptedTransport.Step.ion(
            Ion.answer,
            unlock,
            more: "\(Ion.password),\(Ion.message("errors.E0000119"))",
            status: 401
        )
        let mail = Ion.form(
            "select-authenticator-unlock-account",
            "challenge",
            Ion.field("identifier"),
            #"{"name":"authenticator","type":"object","options":[{"label":"Email","value":{"form":{"value":[{"name":"id","value":"aut1","mutable":false},{"name":"methodType","value":"email","mutable":false}]}}}]}"#
        )
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, locked, .ion(mail),
            .ion(Ion.answer, more: Ion.current("okta_email", "email")),
            .ion(more: Ion.message("oie.selfservice.unlock_user.success.message", "INFO")), .interact,
            .ion(Ion.identify), Self.asked, .interactionCode, .tokens,
        ])
        let person = Person([.emailCode: "1", .password: "hunter2"], choosing: "unlock-account")
        _ = try await bench.signIn("hunter2", person)
        #expect(
            bench.steps[5] == "challenge {identifier:ada@example.com,authenticator:{id:aut1,methodType:email}}"
        )
        #expect(person.keys == [.emailCode, .password])
    }
}
