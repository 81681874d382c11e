import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("PingAM journeys")
struct ForgeRockJourneyTests {
    @Test(arguments: [
        "/json/realms/root/realms/alpha", "/am/json/realms/root/realms/alpha", "/json/realms/alpha", "/json",
        "/json/realms/root", "/am/json/realms/root/realms/alpha/realms/customers",
    ])
    func aLoginMakesASession(path: String) throws {
        var client = ForgeRockHarness()
        client.realm = path
        let step = client.begin("Login")
        #expect(client.types == ["NameCallback", "PasswordCallback"])
        #expect(step["authId"]?.string?.split(separator: ".").count == 3)
        #expect(step["callbacks"]?[1]?["_id"]?.int == 1)
        client.answer("ada@example.com", .string(Harness.password))
        let token = try #require(client.token)
        #expect(
            client.body["realm"]?.string
                == (path.contains("alpha") ? path.contains("customers") ? "/alpha/customers" : "/alpha" : "/")
        )
        #expect(client.base.answer.headers.contains { $0.value.hasPrefix("iPlanetDirectoryPro=\(token);") })
        #expect(client.base.answer.headers.contains { $0.value.hasPrefix("amlbcookie=") })
    }

    @Test func theDefaultPeopleAreThere() {
        for name in ["ada", "grace@example.com", "LINUS", "edsger@example.com", "katherine+clerk_test"] {
            var client = ForgeRockHarness()
            client.signIn(name)
            #expect(client.token != nil, "\(name)")
        }
        for (name, text) in [
            ("ken", "Your account has been locked."), ("radia", "User not Active"), ("eve", "Login failure"),
        ] {
            var client = ForgeRockHarness()
            client.signIn(name)
            #expect(client.status == 401 && client.message == text)
            #expect(client.body["detail"]?["failureUrl"]?.string == "")
        }
    }

    @Test func theThirdFailureWarnsAndTheFifthLocks() {
        var client = ForgeRockHarness()
        let messages = (1...6).map { number in
            client.signIn("ada", number == 6 ? Harness.password : "wrong")
            return client.message ?? ""
        }
        #expect(
            messages == [
                "Login failure", "Login failure", "Warning: You will be locked out after 2 more failure(s).",
                "Warning: You will be locked out after 1 more failure(s).", "Your account has been locked.",
                "Your account has been locked.",
            ]
        )
        #expect(client.counters.lockouts == 1)
        client.base.control("POST", "forgerock/unlock", #"{"user": "ada"}"#)
        client.signIn()
        #expect(client.token != nil)
    }

    @Test func aLockEndsByItselfWhereItHasATime() {
        var client = ForgeRockHarness {
            $0.lockout.threshold = 1
            $0.lockout.duration = 5000
            $0.lockout.statesTime = true
        }
        client.signIn("ada", "wrong")
        #expect(client.message == "Your account has been locked. Try again in 5 seconds.")
        client.advance(seconds: 6)
        client.signIn()
        #expect(client.token != nil)
    }

    @Test(arguments: [
        (
            #"{"error_numbers": true}"#,
            #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":"","errorCode":"107"}}"#,
            "resource=2.1"
        ),
        ("{}", #"{"errorMessage":"Login failure","failureUrl":""}"#, "resource=1.0"),
        (
            "{}", #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":""}}"#,
            "protocol=1.0,resource=2.0"
        ),
    ])
    func theEnvelopeHasTheFormOfTheVersion(settings: String, body: String, version: String) {
        var client = ForgeRockHarness()
        client.base.control("POST", "settings", #"{"forgerock": \#(settings)}"#)
        client.version = version
        client.signIn("ada", "wrong")
        #expect(client.body.text == body)
    }

    @Test func aStepIsGoodForOneAnswer() {
        var client = ForgeRockHarness()
        let first = client.begin("Login")
        client.answer("ada", "wrong")
        client.step = first
        client.answer("ada", .string(Harness.password))
        #expect(client.status == 400 && client.message == "AuthId JWT Signature not valid")
        #expect(client.counters.passwordAttempts == 1 && client.counters.refusedProofs == 1)
        client.begin("Polling")
        let used = client.answer("ada", .string(Harness.password))
        client.answer(100)
        client.step = used
        client.answer(100)
        #expect(client.status == 400)
    }

    @Test func aProofThatWasTamperedWithIsRefused() {
        for (change, text) in [
            (
                { (proof: String) in proof.split(separator: ".").dropLast().joined(separator: ".") + ".AAAA" },
                "AuthId JWT Signature not valid"
            ),
            ({ (_: String) in "nonsense" }, "Failed to parse JWT, the authId is not one"),
        ] {
            var client = ForgeRockHarness()
            let proof = client.begin("Login")["authId"]?.string ?? ""
            client.step = client.step.replacing("authId", .string(change(proof)))
            client.answer("ada", .string(Harness.password))
            #expect(client.status == 400 && client.message == text)
        }
    }

    @Test(arguments: [("error_code", 401, "110" as String?), ("text_400", 400, nil), ("status_408", 408, nil)])
    func aStepThatComesTooLateIsTold(form: String, status: Int, number: String?) {
        var client = ForgeRockHarness {
            $0.stepLifetime = 10_000
            $0.expiredForm = form
        }
        client.begin("Login")
        client.advance(seconds: 11)
        client.answer("ada", .string(Harness.password))
        #expect(client.status == status && client.body["detail"]?["errorCode"]?.string == number)
        #expect(client.counters.passwordAttempts == 0)
    }

    @Test func whatIsWrongWithARequestIsTold() {
        var client = ForgeRockHarness()
        let path = "/json/realms/root/realms/alpha/authenticate"
        client.send("POST", path, "{}", type: "text/plain")
        #expect(client.status == 415)
        client.begin("NoSuchJourney")
        #expect(client.status == 400 && client.message == "No Configuration found")
        client.send("POST", path + "?authIndexType=level&authIndexValue=10", "{}")
        #expect(client.message == "No Configuration found")
        client.send("POST", "/json/realms/root/realms/nowhere/authenticate", "{}")
        #expect(client.status == 400 && client.message == "Invalid realm, /nowhere")
        client.send("GET", "/json/realms/root/no-such-thing")
        #expect(client.status == 404)
        client.begin("Login")
        client.step = client.step.replacing("callbacks", [])
        client.answer()
        #expect(client.status == 400)
        for (version, status) in [
            (nil, 400), ("resource=9.0,protocol=1.0", 404), ("resource=2.1,protocol=9.9", 404), ("nonsense", 400),
            ("protocol=1.0", 200), ("resource=2.1, protocol=1.0", 200),
        ] as [(String?, Int)] {
            client.version = version
            client.begin("Login")
            #expect(client.status == status, "\(version ?? "none")")
        }
        client.base.control("POST", "settings", #"{"forgerock": {"unknown_version_status": 406}}"#)
        client.version = "resource=9.0"
        client.begin("Login")
        #expect(client.status == 406)
    }

    @Test func pollsCountOnlyAfterTheirTime() {
        var client = ForgeRockHarness { $0.pollCount = 2 }
        client.signIn(journey: "Polling")
        #expect(client.types == ["PollingWaitCallback", "ConfirmationCallback"])
        #expect(client.output(0, "waitTime")?.string == "1000")
        client.answer(100)
        #expect(client.counters.earlyPolls == 1 && client.token == nil)
        for _ in 0..<2 {
            client.advance(seconds: 1)
            client.answer(100)
        }
        #expect(client.token != nil)
        client.signIn(journey: "Polling")
        client.answer(0)
        #expect(client.status == 401)
    }

    @Test func aSuspendedJourneyGoesOnOnce() throws {
        var client = ForgeRockHarness()
        client.begin("Suspend")
        client.answer("ada")
        #expect(client.types == ["SuspendedTextOutputCallback"] && client.body["authId"] == nil)
        let message = try #require(client.base.world.outbox.messages.last)
        #expect(message.to == "ada@example.com" && message.strategy == "suspended_journey")
        let id = try #require(
            FormEncoding.fields(Array(message.code.split(separator: "?")[1].utf8)).first { $0.name == "suspendedId" }?
                .value
        )
        client.send("POST", "\(client.realm)/authenticate?suspendedId=\(id)", "{}")
        #expect(client.token != nil)
        client.send("POST", "\(client.realm)/authenticate?suspendedId=\(id)", "{}")
        #expect(client.status == 401 && client.message?.contains("SuspendedAuthSessionException") == true)
    }

    @Test func aCodeIsSentAndComparedAndSentAgain() {
        var client = ForgeRockHarness()
        client.begin("OneTimeCode")
        client.answer("ada")
        #expect(client.types == ["TextOutputCallback", "PasswordCallback", "ConfirmationCallback"])
        client.answer("000000", 0)
        #expect(client.types.last == "TextOutputCallback", "the reason stands behind the question")
        let first = client.lastCode
        client.answer("", 1)
        #expect(client.lastCode != first)
        client.answer(.string(first), 0)
        #expect(client.token == nil)
        client.answer(.string(client.lastCode), 0)
        #expect(client.token != nil)
        client.begin("OneTimeCode")
        client.answer("nobody")
        for _ in 0..<3 { client.answer("000000", 0) }
        #expect(client.status == 401 && client.message == "Login failure")
    }

    @Test func theAuthenticatorAndTheRecoveryCodes() {
        var client = ForgeRockHarness()
        client.signIn("grace", journey: "MFA")
        client.answer(.string(client.base.control("GET", "totp?user=grace@example.com")["code"]?.string ?? ""), 0)
        #expect(client.token != nil)
        for expected in [true, false] {
            client.signIn("grace", journey: "MFA")
            client.answer("", 1)
            client.answer("backup-0001")
            #expect((client.token != nil) == expected)
        }
    }

    @Test func aNewPasswordHasToKeepTheRules() {
        var client = ForgeRockHarness()
        client.signIn(journey: "ChangePassword")
        #expect(client.types == ["ValidatedCreatePasswordCallback"])
        client.answer("short", false)
        let failed = client.output(0, "failedPolicies")?.array?.compactMap(\.string) ?? []
        #expect(failed == [#"{"policyRequirement":"MIN_LENGTH","params":{"minLength":8}}"#])
        client.answer("correct-horse-7", true)
        #expect(client.output(0, "failedPolicies")?.array?.isEmpty == true, "it was only to be looked at")
        client.answer("correct-horse-7", false)
        #expect(client.token != nil)
        client.signIn("ada", Harness.password)
        #expect(client.status == 401)
        client.signIn("ada", "correct-horse-7")
        #expect(client.token != nil)
    }

    @Test func choicesLeadTheirWays() {
        for (choice, type, last) in [
            (0, "PasswordCallback", 0), (1, "PasswordCallback", 1), (0, "PasswordCallback", 2),
        ] as [(JSONValue, String, JSONValue)] {
            var client = ForgeRockHarness { $0.fixedCode = Harness.password }
            client.begin("Choice")
            client.answer("ada")
            #expect(client.output(0, "choices")?.array?.count == 3)
            client.answer(choice)
            #expect(client.types.contains(type))
            client.answer(.string(Harness.password))
            #expect(client.types == ["ConfirmationCallback"])
            client.answer(last)
            #expect((client.token != nil) == (last != 2))
        }
    }

    @Test func whatNobodyKnowsHasToComeBackUntouched() {
        var client = ForgeRockHarness()
        client.signIn(journey: "Unknown")
        #expect(client.token != nil)
        client.begin("Unknown")
        client.step = client.step.replacing("futureMember", .null)
        client.answer("ada", .string(Harness.password))
        #expect(client.status == 400)
        client.signIn(journey: "Hologram")
        client.answer(nil)
        #expect(client.types == ["HologramCallback"])
        client.answer("seen")
        #expect(client.token != nil)
    }

    @Test func aProfileHasToBeWhole() {
        var client = ForgeRockHarness()
        client.signIn(journey: "Profile")
        client.answer("", nil, 200, nil, true, nil, "Color?", "Blue", true)
        #expect(client.output(0, "failedPolicies")?.array?.count == 1)
        #expect(client.output(1, "failedPolicies")?.array?.count == 1)
        client.answer("Paris", nil, 42, nil, true, nil, "Color?", "Blue", false)
        #expect(client.types.last == "TextOutputCallback")
        client.answer("Paris", nil, 42, nil, true, nil, "Color?", "Blue", true)
        #expect(client.types.last == "TextOutputCallback", "a question of one's own is not taken")
        client.answer("Paris", nil, 42, nil, true, nil, "What is your favorite color?", "Blue", true)
        #expect(client.token != nil)
        var own = ForgeRockHarness { $0.allowsOwnQuestions = true }
        own.signIn(journey: "Profile")
        #expect(own.output(3, "allowUserDefinedQuestions") == true)
        own.answer("Paris", nil, 42, nil, true, nil, "Color?", "Blue", true)
        #expect(own.token != nil)
    }

    @Test func aSessionThatIsThereIsEnough() {
        var client = ForgeRockHarness()
        client.keepSession()
        let token = client.token
        client.begin("Login")
        #expect(client.token == token)
        client.begin("Login", "&ForceAuth=true")
        #expect(client.types.count == 2)
        client.begin("Polling")
        #expect(client.types.count == 2, "another journey is not completed by it")
    }

    @Test func noSessionMakesNone() {
        var client = ForgeRockHarness()
        client.begin("Login", "&noSession=true")
        client.answer("ada", .string(Harness.password))
        #expect(client.status == 200 && client.token == nil && client.body["successUrl"] != nil)
        #expect(client.counters.sessions == 0)
    }

    @Test func nameAndPasswordMayComeInHeaders() {
        var client = ForgeRockHarness()
        client.begin("Login", headers: [("x-openam-username", "ada"), ("x-openam-password", Harness.password)])
        #expect(client.token != nil)
        #expect(!client.base.world.log.records.contains { $0.headers.contains { $0.contains(Harness.password) } })
    }

    @Test func aQuotaIsKept() {
        var client = ForgeRockHarness { $0.sessionQuota = 1 }
        client.signIn()
        client.signIn()
        #expect(client.status == 401 && client.message == "You have reached your session limit.")
    }

    @Test func whereItIsStickyTheCookieHasToComeBack() {
        var client = ForgeRockHarness { $0.isSticky = true }
        client.signIn()
        #expect(client.status == 400)
        client.cookies["amlbcookie"] = "01"
        client.signIn()
        #expect(client.token != nil)
    }

    @Test func aLoopAsksAgain() {
        var client = ForgeRockHarness()
        client.signIn("ada", "wrong", journey: "LoginLoop")
        #expect(client.status == 200 && client.types == ["NameCallback", "PasswordCallback", "TextOutputCallback"])
        client.answer("ada", .string(Harness.password))
        #expect(client.token != nil)
    }
}
