import AuthSandbox
import HTTPRecovery
import Testing

@Suite("auth-client sign-in", .timeLimit(.minutes(30)), .bounded)
struct SignInTests {
    private static let password = #"{"password": "open-sesame-42"}"#

    @Test func aPasswordIsEnough() async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn("ada@example.com", answers: Self.password)
            #expect(run.status == 0)
            #expect(run.report["failure"]?.isNull == true)
            #expect(run.report["session"]?.members?.map(\.key) == ["id", "status", "expires_at"])
            #expect(run.report["session"]?["status"]?.string == "active")
            #expect(run.report["session"]?["expires_at"]?.string?.hasSuffix("Z") == true)
            #expect(run.errors.isEmpty)
            #expect(run.named("done").first?["attempts"]?.number?.saturatedInt == 1)
            #expect(permissions(of: bench.tokenFile) == 0o600)
            #expect(try bench.tokens.members?.map(\.key).sorted() == ["accounts", "client_token", "session_id"])
            // Whose lockout holds for what the session spends.
            #expect(try bench.tokens["accounts"]?[run.session ?? ""]?.string == "ada@example.com")
            #expect(try bench.tokens["session_id"]?.string == run.session)
            #expect(bench.routes == ["POST /v1/client/sign_ins"])
        }
    }

    @Test func aPasswordFromStandardInputIsTheFirstLine() async throws {
        try await Bench.run { bench in
            let run = try await bench.run(
                "sign-in",
                "--password-stdin",
                "--identifier",
                "ada@example.com",
                input: "open-sesame-42\nmore\n"
            )
            #expect(run.status == 0)
        }
    }

    @Test func aWrongPasswordAloneIsRefused() async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn("ada@example.com", answers: #"{"password": "correct-horse-7"}"#)
            #expect(run.status == 77)
            #expect(run.kind == "invalid_credentials")
            #expect(run.code == "form_password_incorrect")
            #expect(run.report["failure"]?["param"]?.string == "password")
            #expect(bench.routes == ["POST /v1/client/sign_ins"])
        }
    }

    @Test func aSecondPasswordIsTriedAfterAWrongOne() async throws {
        try await Bench.run { bench in
            let answers = #"{"password": ["correct-horse-7", "open-sesame-42"]}"#
            let run = try await bench.signIn("ada@example.com", answers: answers)
            #expect(run.status == 0)
            #expect(bench.routes.count == 2)
        }
    }

    @Test func aCompromisedPasswordBecomesACodeAndANewPassword() async throws {
        var user = SandboxUser(email: "linus+clerk_test@example.com", password: "open-sesame-42")
        user.passwordState = "compromised"
        try await Bench.run(user) { bench in
            let run = try await bench.signIn(
                user.identifier,
                answers: #"{"password":"open-sesame-42","email_code":"424242","new_password":"correct-horse-7"}"#
            )
            #expect(run.status == 0)
            #expect(run.texts("fallback", "from") == ["password"])
            #expect(run.texts("fallback", "to") == ["email_code"])
            #expect(run.texts("challenge", "kind") == ["email_code", "new_password"])
            #expect(!run.eventText.contains("linus+clerk_test@"))
            let step = "POST /v1/client/sign_ins/{id}/"
            #expect(
                bench.routes == [
                    "POST /v1/client/sign_ins", "POST /v1/client/sign_ins", step + "prepare_first_factor",
                    step + "attempt_first_factor", "POST /v1/me/change_password",
                    "POST /v1/client/sessions/{id}/touch",
                ]
            )
        }
    }

    @Test func aWrongAuthenticatorCodeIsFollowedByTheRightOne() async throws {
        try await Bench.run { bench in
            let code = try #require(bench.sandbox.totp(for: "grace@example.com"))
            let wrong = code == "000000" ? "111111" : "000000"
            let run = try await bench.signIn(
                "grace@example.com",
                answers: #"{"password": "open-sesame-42", "totp": ["\#(wrong)", "\#(code)"]}"#
            )
            #expect(run.status == 0)
            #expect(run.texts("challenge", "kind") == ["totp", "totp"])
            #expect(!run.eventText.contains(code))
        }
    }

    @Test(arguments: [
        ("grace@example.com", #""backup_code": "backup-0001""#, "backup_code"),
        (
            "grace@example.com",
            #""choice": "backup_code", "totp": "000000", "backup_code": "backup-0001""#,
            "backup_code"
        ),
        ("tony@example.com", #""phone_code": "424242""#, "phone_code"),
        ("katherine+clerk_test@example.com", #""email_code": "424242""#, "email_code"),
        ("katherine+clerk_test@example.com", #""email_code": 424242"#, "email_code"),
    ])
    func aSecondFactorIsAnswered(identifier: String, answer: String, kind: String) async throws {
        try await Bench.run { bench in
            var tony = SandboxUser(email: "tony@example.com", password: "open-sesame-42")
            tony.phones = ["+12015550100"]
            tony.secondFactors = ["phone_code"]
            try bench.sandbox.add(tony)
            let choice = answer.hasPrefix(#""choice""#)
            let password = choice ? "" : #""password": "open-sesame-42", "#
            let input = choice ? "open-sesame-42\n" : ""
            let options = choice ? ["--password-stdin"] : []
            let program = try bench.start(
                ["sign-in", "--identifier", identifier] + options,
                answers: "{\(password)\(answer)}",
                input: input
            )
            let run = try await bench.finish(program)
            #expect(run.status == 0)
            #expect(run.texts("challenge", "kind") == [kind])
        }
    }

    /// A choice is about the first question that offers it, not about the first question.
    @Test func aChoiceWaitsForTheQuestionThatOffersIt() async throws {
        try await Bench.run { bench in
            let code = try #require(bench.sandbox.totp(for: "grace@example.com"))
            let answers = #"{"password": "open-sesame-42", "choice": "totp", "totp": "\#(code)", "backup_code": "x"}"#
            let run = try await bench.signIn("grace@example.com", answers: answers)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.texts("challenge", "kind").last == "totp")
        }
    }

    @Test func usedUpAnswersEndTheSignIn() async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn(
                "katherine+clerk_test@example.com",
                answers: #"{"password": "open-sesame-42", "email_code": "123456"}"#
            )
            #expect(run.status == 65)
            #expect(run.kind == "challenge_required")
            #expect(run.named("challenge").count == 2)
        }
    }

    @Test(arguments: ["{}", #"{"email_code": []}"#])
    func missingAnswersEndTheSignIn(answers: String) async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn("ada@example.com", answers: answers)
            #expect(run.status == 65)
            #expect(run.kind == "challenge_required")
        }
    }

    @Test(arguments: [#"{"pasword": "x"}"#, "{", "[]", #"{"password": {}}"#, #"{"password": [true]}"#])
    func unusableAnswersSendNothing(answers: String) async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn("ada@example.com", answers: answers)
            #expect(run.status == 65)
            #expect(run.kind == "invalid_request")
            #expect(bench.routes.isEmpty)
        }
    }

    @Test func aMissingAnswerFileSendsNothing() async throws {
        try await Bench.run { bench in
            let run = try await bench.run("sign-in", "--identifier", "ada@example.com", "--answers", "/nonexistent/a")
            #expect(run.status == 65)
            #expect(bench.routes.isEmpty)
        }
    }

    @Test func aBannedPersonIsRefused() async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn("radia@example.com", answers: Self.password)
            #expect(run.status == 77)
            #expect(run.code == "user_banned")
        }
    }

    @Test func whoIsSignedInAlreadyKeepsTheSession() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let session = try bench.tokens["session_id"]?.string
            let run = try await bench.signIn("ada@example.com", answers: Self.password)
            #expect(run.status == 0)
            #expect(run.session == session)
        }
    }

    @Test func somebodyElsesSessionIsNotTakenForOnesOwn() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let before = try bench.tokens["session_id"]?.string
            let run = try await bench.signIn("edsger@example.com", answers: Self.password)
            #expect(run.status == 77)
            #expect(run.kind == "already_signed_in")
            #expect(try bench.tokens["session_id"]?.string == before)
        }
    }

    @Test func theTokenOfAnUnfinishedSignInIsKeptForTheNext() async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn("grace@example.com", answers: Self.password)
            #expect(run.status == 65)
            #expect(try bench.tokens.members?.map(\.key) == ["client_token"])
            #expect(permissions(of: bench.tokenFile) == 0o600)
            try await bench.signInAda()
            // The device was known, so the server was shown its token.
            #expect(
                bench.sandbox.requests().last?.headers.contains { $0.lowercased().hasPrefix("authorization:") } == true
            )
        }
    }
}
