import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

@Suite("auth-client --provider forgerock", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockSignInTests {
    @Test func aNameAndAPasswordAreEnough() async throws {
        try await AM.run { bench in
            for name in ["ada", "ada@example.com"] {
                let run = try await bench.journey("Login", name, answers: AM.password)
                #expect(run.status == 0)
                #expect(run.session == "id=ada,ou=user,o=alpha,ou=services,ou=am-config")
                #expect(run.report["session"]?["status"]?.string == "active")
                #expect(run.report["session"]?["expires_at"]?.string?.hasSuffix("Z") == true)
                #expect(try bench.tokens.members?.map(\.key) == ["sso_token"])
                #expect(permissions(of: bench.tokenFile) == 0o600)
                #expect(run.errors.isEmpty)
            }
            #expect(bench.stepCount == 4)
        }
    }

    @Test func thePasswordMayComeFromStandardInput() async throws {
        try await AM.run { bench in
            let run = try await bench.run(
                "sign-in",
                "--password-stdin",
                "--identifier",
                "ada",
                input: "open-sesame-42\n"
            )
            #expect(run.status == 0)
            #expect(run.named("challenge").isEmpty)
        }
    }

    @Test func aWrongPasswordIsRefusedAndAnotherIsTried() async throws {
        try await AM.run { bench in
            let wrong = try await bench.journey("Login", answers: #"{"password": "correct-horse-7"}"#)
            #expect(wrong.status == 77)
            #expect(wrong.kind == "invalid_credentials")
            #expect(wrong.code == "401")
            #expect(wrong.errors.contains("Login failure"))
            #expect(bench.stepCount == 2)
            let right = try await bench.journey(
                "Login",
                answers: #"{"password": ["correct-horse-7", "open-sesame-42"]}"#
            )
            #expect(right.status == 0)
            #expect(bench.sandbox.forgeRockCounters.passwordAttempts == 3)
        }
    }

    @Test func theServerWarnsAndThenLocks() async throws {
        try await AM.run { bench in
            let wrong = #"{"password": ["correct-horse-7", "correct-horse-7", "correct-horse-7"]}"#
            let warned = try await bench.journey("Login", answers: wrong)
            #expect(warned.status == 77)
            #expect(warned.kind == "invalid_credentials")
            #expect(warned.errors.contains("Warning: You will be locked out after 2 more failure(s)."))
            let locked = try await bench.journey("Login", answers: wrong)
            #expect(locked.status == 75)
            #expect(locked.kind == "account_locked")
            #expect(locked.retryAt == nil)
            #expect(locked.errors.contains("Your account has been locked."))
            #expect(bench.sandbox.forgeRockCounters.passwordAttempts == 5)
            #expect(bench.sandbox.forgeRockCounters.lockouts == 1)
        }
    }

    @Test func whoIsNotActiveIsRefused() async throws {
        try await AM.run { bench in
            let run = try await bench.journey("Login", "radia", answers: AM.password)
            #expect(run.status == 77)
            #expect(run.kind == "account_blocked")
            #expect(run.errors.contains("User not Active"))
        }
    }

    @Test func aLoopIsTheSameJourney() async throws {
        try await AM.run { bench in
            let answers = #"{"password": ["correct-horse-7", "open-sesame-42"]}"#
            let run = try await bench.journey("LoginLoop", answers: answers)
            #expect(run.status == 0)
            #expect(bench.sandbox.forgeRockCounters.journeys == 1)
            #expect(bench.stepCount == 3)
        }
    }

    @Test func pollsAreWaitedFor() async throws {
        try await AM.run { bench in
            let run = try await bench.journey("Polling", answers: AM.password)
            #expect(run.status == 0)
            #expect(run.texts("wait", "reason") == ["challenge_pending", "challenge_pending", "challenge_pending"])
            #expect(bench.sandbox.forgeRockCounters.earlyPolls == 0)
            #expect(bench.stepCount == 5)
        }
    }

    @Test(arguments: [AM.password, #"{"password": "open-sesame-42", "webauthn": "unsupported"}"#])
    func withoutAnAuthenticatorACodeStandsIn(answers: String) async throws {
        try await AM.run {
            $0.fixedCode = "864209"
        } _: { bench in
            let with = answers.dropLast() + #", "email_code": "864209"}"#
            for journey in ["WebAuthn", "WebAuthnRegistration"] {
                let run = try await bench.journey(journey, answers: String(with))
                #expect(run.status == 0)
                #expect(run.texts("fallback", "from") == ["webauthn"])
                #expect(run.texts("fallback", "to") == ["email_code"])
                #expect(run.texts("challenge", "kind").suffix(2) == ["webauthn", "email_code"])
            }
            #expect(bench.sandbox.forgeRockCounters.ceremonies == 0)
        }
    }

    /// A raw outcome goes to the server as it stands.
    @Test(arguments: [
        ("ERROR::NotAllowedError:The operation was cancelled", "declined"), ("{}::1,2::AA::3", "factor_unavailable"),
        ("anything", "factor_unavailable"),
    ])
    func aRawOutcomeIsSentAsItStands(outcome: String, kind: String) async throws {
        try await AM.run { bench in
            let answers: JSONValue = ["password": "open-sesame-42", "webauthn": .string(outcome)]
            let run = try await bench.journey("WebAuthn", answers: answers.description)
            #expect(run.status == 77)
            #expect(run.kind == kind)
            #expect(run.named("fallback").isEmpty)
            #expect(bench.stepCount == 3)
        }
    }

    /// The three ways in which a server says that a journey is too old, and the number as a number.
    @Test(arguments: [
        #"{"kind": "envelope", "status": 401, "code": "110", "message": "Session has timed out"}"#,
        #"{"kind": "envelope", "envelope": "am+number", "status": 401, "code": "110", "message": "Too old"}"#,
        #"{"kind": "envelope", "status": 400, "message": "Authentication Error: Authentication timeout."}"#,
        #"{"kind": "status", "status": 408}"#,
    ])
    func aJourneyThatIsTooOldIsBegunAgain(fault: String) async throws {
        try await AM.run { bench in
            var fault = try SandboxFault(json: fault)
            (fault.path, fault.skip) = (AM.authenticate, 1)
            bench.sandbox.add(fault)
            let run = try await bench.journey("Login", answers: AM.password)
            #expect(run.status == 0)
            #expect(run.texts("failure", "kind") == ["flow_expired"])
            #expect(bench.stepCount == 4)
            // The answer was given once, and asked for once.
            #expect(run.texts("challenge", "kind") == ["password"])
        }
    }

    @Test(arguments: ["error_code", "text_400", "status_408"])
    func aJourneyThatHasExpiredInAWaitIsBegunAgain(form: String) async throws {
        try await AM.run { settings in
            settings.expiredForm = form
            settings.pollCount = 1_000_000
        } _: { bench in
            let program = try bench.start(
                ["--journey", "Polling", "sign-in", "--identifier", "ada"],
                answers: AM.password
            )
            try await bench.event("wait")
            bench.sandbox.advanceClock(by: .seconds(301))
            while bench.sandbox.forgeRockCounters.journeys < 2 { try await Task.sleep(for: .milliseconds(5)) }
            bench.sandbox.updateSettings { $0.forgerock.pollCount = 0 }
            let run = try await bench.finish(program)
            #expect(run.status == 0)
            #expect(run.texts("failure", "kind") == ["flow_expired"])
            #expect(bench.sandbox.forgeRockCounters.journeys == 2)
            #expect(bench.sandbox.forgeRockCounters.sessions == 1)
        }
    }

    /// The id stands in the query, or behind the fragment of a login page.
    @Test(arguments: ["?", "#login?"]) func aSuspendedJourneyIsResumedOnce(mark: String) async throws {
        try await AM.run { bench in
            let suspended = try await bench.journey("Suspend", answers: "{}")
            #expect(suspended.status == 77)
            #expect(suspended.kind == "user_action_required")
            #expect(suspended.errors.contains("An email has been sent to you."))
            let mailed = try #require(bench.sandbox.outbox(to: "ada@example.com").last?.code)
            let link = mailed.replacing("?", with: mark)
            let resumed = try await bench.run("sign-in", "--resume", link, answers: "{}", secrets: [link])
            #expect(resumed.status == 0)
            #expect(resumed.session?.hasPrefix("id=ada,") == true)
            // The link is used up: the journey to sign in with is begun, and asks for what nobody answers.
            let again = try await bench.run("sign-in", "--resume", link, answers: "{}", secrets: [link])
            #expect(again.status == 65)
            #expect(again.kind == "challenge_required")
        }
    }

    @Test func brokenRulesAreToldAndAnotherPasswordIsTried() async throws {
        try await AM.run { bench in
            let first = try await bench.journey(
                "ChangePassword",
                answers: #"{"password": "open-sesame-42", "new_password": "short"}"#
            )
            #expect(first.status == 65)
            #expect(first.texts("challenge", "kind") == ["password", "new_password", "new_password"])
            let second = try await bench.journey(
                "ChangePassword",
                answers: #"{"password": "open-sesame-42", "new_password": ["short", "correct-horse-7"]}"#
            )
            #expect(second.status == 0)
            #expect(try await bench.journey("Login", answers: #"{"password": "correct-horse-7"}"#).status == 0)
        }
    }

    @Test(arguments: [
        ("MFA", "grace", #""password": "open-sesame-42", "backup_code": "backup-0001""#, 0),
        ("MFA", "ada", #""password": "open-sesame-42", "email_code": ["000000", "864209"]"#, 0),
        ("OneTimeCode", "ada", #""email_code": "864209""#, 0),
        ("OneTimeCode", "ada", #""email_code": ["000000", "111111", "222222"]"#, 77),
        ("Choice", "ada", #""password": "open-sesame-42", "choice": ["Password", "No"]"#, 0),
        ("Choice", "ada", #""password": "open-sesame-42", "choice": ["password", "cancel"]"#, 77),
        ("Choice", "ada", #""email_code": "864209", "choice": ["email_code", "yes"]"#, 0),
        ("Choice", "ada", #""email_code": "864209", "choice": ["carrier pigeon"]"#, 65),
        ("Unknown", "ada", #""password": "open-sesame-42""#, 0),
        (
            "Profile", "ada",
            #""password": "open-sesame-42", "text": ["Paris", "42"], "choice": ["yes", "What is your favorite color?", "yes"], "security_answer": "Blue""#,
            0
        ),
    ])
    func everyKindOfQuestionIsAnswered(journey: String, name: String, answers: String, status: Int32) async throws {
        try await AM.run {
            $0.fixedCode = "864209"
        } _: { bench in
            let run = try await bench.journey(journey, name, answers: "{\(answers)}")
            #expect(run.status == status, "\(run.output) \(run.errors)")
        }
    }

    @Test func theAuthenticatorsCodeIsTakenAfterAWrongOne() async throws {
        try await AM.run { bench in
            let code = try #require(bench.sandbox.totp(for: "grace@example.com"))
            let wrong = code == "000000" ? "111111" : "000000"
            let answers = #"{"password": "open-sesame-42", "totp": ["\#(wrong)", "\#(code)"]}"#
            let run = try await bench.journey("MFA", "grace", answers: answers)
            #expect(run.status == 0)
            #expect(run.texts("challenge", "kind") == ["password", "totp", "totp"])
            #expect(!run.eventText.contains(code))
        }
    }

    @Test func anErrorInsideASuccessIsAnError() async throws {
        try await AM.run { bench in
            bench.sandbox.add(AM.fault(.envelope, AM.authenticate, status: 200, skip: 1))
            let run = try await bench.journey("Login", answers: AM.password)
            #expect(run.status == 77)
            #expect(run.kind == "invalid_credentials")
            #expect(names(in: bench.directory).contains("tokens.json") == false)
        }
    }

    @Test(arguments: [("nowhere", "Login"), ("alpha", "NoSuchJourney")])
    func aWrongRealmOrJourneyIsToldAsSuch(realm: String, journey: String) async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options = ["--realm", realm]
            let run = try await bench.journey(journey, answers: AM.password)
            #expect(run.status == 77)
            #expect(run.kind == "misconfigured")
        }
    }

    @Test func theDeploymentMayHaveAPathAndACookieOfItsOwn() async throws {
        try await AM.run {
            $0.cookieName = "5a1b2c"
        } _: { bench in
            for options in [["--cookie-name", "5a1b2c"], []] {
                let arguments = ["--base-url", bench.sandbox.url + "/am/"] + options
                let signIn = try await bench.finish(
                    bench.start(arguments + ["sign-in", "--identifier", "ada"], answers: AM.password)
                )
                #expect(signIn.status == 0)
                let get = try await bench.finish(
                    bench.start(arguments + ["get", "/json/realms/root/realms/alpha/users/ada"])
                )
                #expect(get.status == 0)
                #expect(get.output.contains("ada@example.com"))
            }
        }
    }
}
