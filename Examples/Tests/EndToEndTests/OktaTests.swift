import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// Signing in to Okta, through everything that can stand in the way.
@Suite("auth-client --provider okta", .timeLimit(.minutes(30)), .bounded)
struct OktaTests {
    private static let verify = "authn/factors/{id}/verify"

    @Test func aPasswordIsEnough() async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn("ada@example.com", answers: Bench.answers())
            #expect(run.status == 0)
            #expect(run.report["session"]?["status"]?.string == "ACTIVE")
            #expect(run.report["session"]?["expires_at"]?.string?.hasSuffix("Z") == true)
            #expect(run.errors.isEmpty)
            #expect(bench.steps == ["authn", "sessions"])
            // The session's id opens it, so the report names the person instead.
            #expect(try bench.tokens.members?.map(\.key) == ["session_id"])
            #expect(run.session?.hasPrefix("00u") == true)
            #expect(permissions(of: bench.tokenFile) == 0o600)
        }
    }

    @Test func theOrgIsNamedByItsOwnOption() async throws {
        try await Bench.okta { bench in
            let end = try await BuiltProgram(
                "auth-client",
                [
                    "sign-in", "--provider", "okta", "--org", bench.sandbox.url + "/", "--password-stdin",
                    "--identifier", "ada@example.com",
                ],
                in: bench.directory,
                input: "open-sesame-42\n"
            ).end()
            #expect(end.status == 0)
            #expect(end.output.hasPrefix("Signed in: 00u"))
        }
    }

    @Test func anExpiredPasswordIsChangedAndTheFactorVerified() async throws {
        try await Bench.okta { bench in
            let code = try #require(bench.sandbox.oktaTOTP(for: "frances@example.com"))
            let run = try await bench.signIn(
                "frances@example.com",
                answers: Bench.answers(#""new_password": ["short", "correct-horse-7"], "totp": "\#(code)""#)
            )
            #expect(run.status == 0)
            #expect(run.texts("challenge", "kind") == ["new_password", "new_password", "totp"])
            let change = "authn/credentials/change_password"
            #expect(bench.steps == ["authn", change, change, Self.verify, "sessions"])
            #expect(!run.eventText.contains(code))
        }
    }

    @Test func aWarningIsHeededWhereANewPasswordIsAtHand() async throws {
        try await Bench.okta { bench in
            let plain = try await bench.signIn("whitfield@example.com", answers: Bench.answers())
            #expect(plain.status == 0)
            let answers = Bench.answers(#""new_password": "correct-horse-7""#)
            let run = try await bench.signIn("whitfield@example.com", answers: answers)
            #expect(run.status == 0)
            #expect(run.texts("challenge", "kind") == ["new_password"])
        }
    }

    // MARK: Push

    @Test func aPushIsWaitedForUntilItIsApproved() async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn("vint@example.com", answers: Bench.answers())
            #expect(run.status == 0)
            #expect(run.errors.contains("A confirmation was sent to your phone"))
            #expect(run.errors.contains("Choose the number 42 on your phone"))
            #expect(run.texts("wait", "reason") == Array(repeating: "challenge_pending", count: 3))
            // The first one sends it, the others ask: twice it waits.
            #expect(bench.steps == ["authn"] + Array(repeating: Self.verify, count: 4) + ["sessions"])
            #expect(bench.sandbox.oktaPushes() == 1)
        }
    }

    @Test(arguments: [
        ("niklaus@example.com", "declined", 1, ""), ("tim@example.com", "challenge_expired", 1, ""),
        ("tim@example.com", "challenge_expired", 2, #""push": "resend""#),
    ])
    func aPushThatIsNotApprovedSendsNoOther(name: String, kind: String, pushes: Int, wish: String) async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn(name, answers: Bench.answers(wish))
            #expect(run.status == 77)
            #expect(run.kind == kind)
            #expect(bench.sandbox.oktaPushes(of: name) == pushes)
            #expect(names(in: bench.directory).contains("tokens.json") == false)
        }
    }

    @Test func aPushIsInterruptedAtOnce() async throws {
        try await Bench.okta(.push()) { bench in
            let arguments = ["sign-in", "--identifier", Bench.eva]
            let program = try bench.start(arguments, answers: Bench.answers())
            try await bench.event("wait")
            program.signal(SIGINT)
            let run = try await bench.finish(program)
            #expect(run.status == 130)
            #expect(run.outcome == "cancelled")
            #expect(bench.sandbox.oktaPushes() == 1)
        }
    }

    /// The transaction dies while the person looks for their phone: they are asked before it rings again.
    @Test func aTransactionThatDiesWhileWaitingSendsNoOtherPush() async throws {
        try await Bench.okta(.push()) { bench in
            let program = try bench.start(["sign-in", "--identifier", Bench.eva], answers: Bench.answers())
            try await bench.event("wait")
            #expect(bench.sandbox.endOktaTransactions() == 1)
            let run = try await bench.finish(program)
            #expect(run.status == 77)
            #expect(run.kind == "challenge_expired")
            #expect(bench.sandbox.oktaPushes() == 1)
            #expect(bench.steps.filter { $0 == "authn" }.count == 2)
        }
    }

    // MARK: Locked out

    @Test func aLockedAccountIsUnlockedAndSignedInTo() async throws {
        try await Bench.okta { bench in
            let answers = Bench.answers(
                #""choice": "SMS", "phone_code": ["123456", "424242"], "security_answer": ["eight", "seven"]"#
            )
            let run = try await bench.signIn("donald@example.com", answers: answers)
            #expect(run.status == 0)
            let challenges = ["phone_code", "phone_code", "security_answer", "security_answer"]
            #expect(run.texts("challenge", "kind") == ["password"] + challenges)
            let recovery = ["authn/recovery/factors/SMS/verify", "authn/recovery/answer"].flatMap { [$0, $0] }
            #expect(bench.steps == ["authn", "authn/recovery/unlock"] + recovery + ["authn", "sessions"])
        }
    }

    @Test func anUnlockByMailIsThePersonsTurn() async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn("donald@example.com", answers: Bench.answers(#""choice": "EMAIL""#))
            #expect(run.status == 77)
            #expect(run.kind == "user_action_required")
            #expect(bench.sandbox.outbox(to: "donald@example.com").last?.strategy == "okta_unlock_link")
        }
    }

    @Test func aLockoutThatNobodyLiftsIsToldOf() async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn("donald@example.com", answers: Bench.answers())
            #expect(run.status == 75)
            #expect(run.kind == "account_locked")
            #expect(bench.steps == ["authn"])
        }
    }

    @Test func aHiddenLockoutLooksLikeAWrongPassword() async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn("ken@example.com", answers: Bench.answers())
            #expect(run.status == 77)
            #expect(run.kind == "invalid_credentials")
        }
    }

    @Test func wrongPasswordsAreRefused() async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn("ada@example.com", answers: #"{"password": "correct-horse-7"}"#)
            #expect(run.status == 77)
            #expect(run.kind == "invalid_credentials")
            #expect(run.code == "E0000004")
            #expect(bench.steps == ["authn"])
            let again = #"{"password": ["correct-horse-7", "open-sesame-42"]}"#
            #expect(try await bench.signIn("ada@example.com", answers: again).status == 0)
        }
    }

    // MARK: Factors

    @Test(arguments: [
        ("question", #""security_answer": "Rex""#, "security_answer"),
        ("sms", #""phone_code": "424242""#, "phone_code"),
        ("email", #""email_code": 424242"#, "email_code"), ("phone_code", #""phone_code": "424242""#, "phone_code"),
        ("question", #""security_answer": ["Fido", "Rex"]"#, "security_answer"),
        ("sms", #""phone_code": ["123456", "424242"]"#, "phone_code"),
    ])
    func aFactorIsVerified(choice: String, answer: String, kind: String) async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn(
                "jean+clerk_test@example.com",
                answers: Bench.answers(#""choice": "\#(choice)", \#(answer)"#)
            )
            #expect(run.status == 0)
            let rounds = answer.contains("[") ? 2 : 1
            #expect(run.texts("challenge", "kind") == ["password"] + Array(repeating: kind, count: rounds))
            #expect(!run.output.contains("Rex") && !run.errors.contains("Rex") && !run.eventText.contains("Rex"))
            #expect(!run.eventText.contains("+12015550102"))
        }
    }

    @Test func aWrongAuthenticatorCodeIsAskedForAgain() async throws {
        try await Bench.okta { bench in
            let code = try #require(bench.sandbox.oktaTOTP(for: "grace@example.com"))
            let answers = Bench.answers(#""totp": ["\#(bench.wrongCode(code))", "\#(code)"]"#)
            let run = try await bench.signIn("grace@example.com", answers: answers)
            #expect(run.status == 0)
            #expect(run.texts("failure", "code") == ["E0000068"])
            #expect(bench.steps == ["authn", Self.verify, Self.verify, "sessions"])
        }
    }

    @Test func tooManyWrongCodesLock() async throws {
        var scenario = SandboxScenario(users: [Bench.person([.init("token:software:totp")])])
        scenario.settings.okta.factorAttempts = 2
        try await Bench.okta(scenario) { bench in
            let code = try #require(bench.sandbox.oktaTOTP(for: Bench.eva))
            let wrong = bench.wrongCode(code)
            let answers = Bench.answers(#""totp": ["\#(wrong)", "\#(wrong)", "\#(code)"]"#)
            let run = try await bench.signIn(Bench.eva, answers: answers)
            #expect(run.status == 75)
            #expect(run.kind == "account_locked")
            #expect(run.code == "E0000069")
            #expect(bench.steps == ["authn", Self.verify, Self.verify])
        }
    }

    @Test func aKeyThatCannotBeUsedGivesWayToAnotherFactor() async throws {
        try await Bench.okta { bench in
            let code = try #require(bench.sandbox.oktaTOTP(for: "shafi@example.com"))
            let answers = Bench.answers(#""choice": "webauthn", "webauthn": "unsupported", "totp": "\#(code)""#)
            let run = try await bench.signIn("shafi@example.com", answers: answers)
            #expect(run.status == 0)
            #expect(run.texts("fallback", "to") == ["totp"])
        }
    }

    @Test(arguments: [
        ("sms", #""phone_number": ["12", "+12015550103"], "phone_code": "424242""#),
        ("question", #""choice": "disliked_food", "security_answer": "kale""#),
        ("token:software:totp", #""totp": "CODE""#),
        ("email", #""email_code": "424242""#), ("push", ""),
    ])
    func aFactorIsSetUp(type: String, answers: String) async throws {
        var user = Bench.person()
        user.okta.enrollments = [.init(type)]
        try await Bench.okta(user) { bench in
            // The authenticator app shows codes of a secret that the test knows beforehand.
            let code = bench.sandbox.totp(for: Bench.eva) ?? ""
            let text = answers.split(separator: "CODE", omittingEmptySubsequences: false).joined(separator: code)
            let run = try await bench.signIn(Bench.eva, answers: Bench.answers(text))
            #expect(run.status == 0)
            #expect(bench.steps.contains("authn/factors"))
            #expect(!run.errors.contains("JBSWY3DPEHPK3PXP") && !run.eventText.contains("JBSWY3DPEHPK3PXP"))
        }
    }

    // MARK: Transactions that go astray

    @Test func aDeadTransactionIsBegunAgain() async throws {
        try await Bench.okta { bench in
            var fault = SandboxFault(.status, path: "*/verify")
            fault.status = 401
            bench.sandbox.add(fault)
            let code = try #require(bench.sandbox.oktaTOTP(for: "grace@example.com"))
            let run = try await bench.signIn(
                "grace@example.com",
                answers: Bench.answers(#""totp": ["\#(code)", "\#(code)"]"#)
            )
            #expect(run.status == 0)
            #expect(run.texts("failure", "kind") == ["flow_expired"])
            #expect(bench.steps == ["authn", Self.verify, "authn", Self.verify, "sessions"])
        }
    }

    @Test func aWrongStateIsReadAndFollowed() async throws {
        try await Bench.okta { bench in
            var fault = SandboxFault(.status, path: "*/verify")
            fault.status = 403
            fault.errorCode = "E0000079"
            bench.sandbox.add(fault)
            let code = try #require(bench.sandbox.oktaTOTP(for: "grace@example.com"))
            let run = try await bench.signIn(
                "grace@example.com",
                answers: Bench.answers(#""totp": ["\#(code)", "\#(code)"]"#)
            )
            #expect(run.status == 0)
            #expect(run.texts("failure", "kind") == ["state_conflict"])
            let begun = bench.sandbox.requests().filter { $0.fields.contains { $0.hasPrefix("password=") } }
            #expect(begun.count == 1)
            #expect(bench.steps == ["authn", Self.verify, "authn", Self.verify, "sessions"])
        }
    }

    @Test func aStateOfTomorrowIsSurfaced() async throws {
        var user = Bench.person()
        user.statusAfterFirstFactor = "OF_TOMORROW"
        try await Bench.okta(user) { bench in
            let run = try await bench.signIn(Bench.eva, answers: Bench.answers())
            #expect(run.status == 77)
            #expect(run.kind == "unknown")
            #expect(run.code == "OF_TOMORROW")
        }
    }

    @Test func aPushThatIsAnsweredWithAWordOfTomorrowIsNotPolledOn() async throws {
        try await Bench.okta(.push("FROM_MARS")) { bench in
            let run = try await bench.signIn(Bench.eva, answers: Bench.answers())
            #expect(run.status == 77)
            #expect(bench.steps == ["authn", Self.verify, Self.verify])
            #expect(bench.sandbox.oktaPushes() == 1)
        }
    }

    @Test func missingAnswersEndTheSignIn() async throws {
        try await Bench.okta { bench in
            let run = try await bench.signIn("grace@example.com", answers: Bench.answers())
            #expect(run.status == 65)
            #expect(run.kind == "challenge_required")
        }
    }
}
