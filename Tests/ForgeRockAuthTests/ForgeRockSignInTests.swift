import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct ForgeRockSignInTests {
    private let start = "authenticate?authIndexType=service&authIndexValue=Login"
    private let login = #"authenticate a1 "ada" "hunter2""#

    @Test func nameAndPasswordMakeASession() async throws {
        let bench = try ForgeRockBench([.login, .success()])
        let person = Person()
        let session = try await bench.signIn("hunter2", person)
        #expect(session.exists && session.realm == "/alpha" && session.successURL == "/am/console")
        #expect(bench.sent == [start, login])
        #expect(person.keys.isEmpty)
        #expect(try await bench.credentials == Credentials(ssoToken: "S1"))
        let fields = bench.transport.received[1].request.headerFields
        #expect(fields[HTTPField.Name("accept-api-version")!] == "resource=2.1,protocol=1.0")
        #expect(fields[.contentType] == "application/json")
        #expect(fields[HTTPField.Name("x-requested-with")!] == "forgerock-sdk")
        #expect(bench.transport.received[0].text == "{}")
    }

    @Test func theRealmAndTheDefaultJourneyAreNamedInThePath() async throws {
        let bench = try ForgeRockBench([.success()], journey: nil)
        _ = try await bench.signIn()
        #expect(bench.transport.received[0].request.path == "/am/json/realms/root/realms/alpha/authenticate")
        for (realm, path) in [("", "root"), ("/", "root"), ("root", "root"), ("a/b", "root/realms/a/realms/b")] {
            let transport = ScriptedTransport([.success()])
            let forgeRock = try ForgeRock(
                baseURL: "https://id.example.com/am/json/",
                client: RecoveringClient(transport: transport, runtime: .manual()),
                tokens: InMemoryTokenStore(),
                configuration: ForgeRockConfiguration(realm: realm)
            )
            _ = try await forgeRock.signIn(identifier: nil, answering: Person())
            #expect(transport.received[0].request.path == "/am/json/realms/\(path)/authenticate")
        }
    }

    @Test func whatIsNotKnownGoesBackUntouched() async throws {
        let strange =
            #"{"type":"RetinaScanCallback","output":[{"name":"z","value":{"q":[1.50]}}],"input":[{"name":"IDToken3","value":"keep"}],"extra":true}"#
        let bench = try ForgeRockBench([.step(AM.name, AM.password, strange), .success()])
        _ = try await bench.signIn()
        let text = bench.transport.received[1].text
        #expect(text.contains(strange) && text.contains(#""x":[1,{"y":null}]"#))
    }

    @Test func anAppCanAnswerWhatTheLibraryDoesNotKnow() async throws {
        struct Scanner: JourneyCallbackResponder {
            func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool {
                guard callback.type == "RetinaScanCallback" else { return false }
                callback.setInput("scanned")
                return true
            }
        }
        let bench = try ForgeRockBench([.step(callback("RetinaScanCallback")), .success()])
        _ = try await bench.signIn(callbacks: Scanner())
        #expect(bench.sent.last == #"authenticate a1 "scanned""#)
    }

    @Test func aWrongPasswordIsAskedForInANewJourney() async throws {
        let bench = try ForgeRockBench([
            .login, .error(401, "Login failure"), .step(AM.name, AM.password, id: "b1"), .success(),
        ])
        let person = Person([.password: "right"])
        _ = try await bench.signIn("wrong", person)
        #expect(
            bench.sent == [start, #"authenticate a1 "ada" "wrong""#, start, #"authenticate b1 "ada" "right""#]
        )
        #expect(person.questions.map(\.round) == [2])
        #expect(person.notices.map(\.kind) == [.invalidCredentials])
    }

    @Test func theWarningOfALockoutReachesThePerson() async throws {
        let text = "Warning: You will be locked out after 1 more failure(s)."
        let bench = try ForgeRockBench([.login, .error(401, text), .login, .success()])
        let person = Person([.password: "right"])
        _ = try await bench.signIn("wrong", person)
        #expect(person.notices.map(\.userMessage) == [text])
        #expect(person.questions.first?.previousFailure?.userMessage == text)
    }

    @Test func aPasswordThatTheLoopRejectsIsAskedForInTheSameJourney() async throws {
        let bench = try ForgeRockBench([
            .login, .step(AM.text("Wrong, try again", kind: "1"), AM.name, AM.password, id: "a2"), .success(),
        ])
        let person = Person([.password: "right"])
        _ = try await bench.signIn("wrong", person)
        #expect(bench.sent == [start, #"authenticate a1 "ada" "wrong""#, #"authenticate a2 "ada" "right""#])
        #expect(person.notices.map(\.userMessage) == ["Wrong, try again"])
        let three = try ForgeRockBench(Array(repeating: .login, count: 9))
        let stubborn = Person([.password: [.text("2"), .text("3"), .text("4")]])
        let error = await #expect(throws: RecoveryError.self) { try await three.signIn("1", stubborn) }
        #expect(error?.kind == .invalidCredentials)
        #expect(three.transport.received.count == 4)
    }

    @Test func aWrongCodeThatEndsTheJourneyIsReplacedByThatOfANewOne() async throws {
        let bench = try ForgeRockBench([
            .login, .step(AM.text("We sent you a mail"), AM.code, id: "a2"), .error(401, "Login failure"), .login,
            .step(AM.text("We sent you a mail"), AM.code, id: "b2"), .success(),
        ])
        let person = Person([.emailCode: [.text("111"), .text("222")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(
            bench.sent == [
                start, login, #"authenticate a2 "111""#, start, login, #"authenticate b2 "222""#,
            ]
        )
        #expect(person.questions.map(\.hint) == ["We sent you a mail", "We sent you a mail"])
        #expect(person.questions.map(\.round) == [1, 2])
        #expect(person.questions.last?.previousFailure?.kind == .invalidCredentials)
    }

    @Test(arguments: [
        (401, "x", "\"110\""), (400, "Authentication Error: Authentication timeout.", nil), (408, "x", nil),
    ])
    func aJourneyThatIsTooOldBeginsAgainOnceWithWhatWasAnswered(
        status: Int,
        message: String,
        number: String?
    ) async throws {
        let late = ScriptedTransport.Step.error(status, message, number: number)
        let bench = try ForgeRockBench([
            .login, .step(AM.choice("Email", "SMS"), id: "a2"), .step(AM.code, id: "a3"), late,
            .step(AM.name, AM.password, id: "b1"), .step(AM.choice("Email", "SMS"), id: "b2"),
            .step(AM.code, id: "b3"), .success(),
        ])
        let person = Person([.totp: [.text("111"), .text("222")]], choosing: "SMS")
        _ = try await bench.signIn("hunter2", person)
        #expect(
            bench.sent == [
                start, login, "authenticate a2 1", #"authenticate a3 "111""#, start,
                #"authenticate b1 "ada" "hunter2""#, "authenticate b2 1", #"authenticate b3 "222""#,
            ]
        )
        #expect(person.choices.count == 1)
        let twice = try ForgeRockBench([.login, late, .login, late, .login])
        let error = await #expect(throws: RecoveryError.self) { try await twice.signIn() }
        #expect(error?.kind == .flowExpired)
        #expect(twice.transport.received.count == 4)
    }

    @Test func aFaultOfTheServerInAJourneyBeginsItAgainAfterAMoment() async throws {
        let bench = try ForgeRockBench([
            .login, .step(AM.choice("Email", "SMS"), id: "a2"), .error(500, "Authentication Error!!", number: "102"),
            .login, .step(AM.choice("Email", "SMS"), id: "b2"), .success(),
        ])
        _ = try await bench.signIn("hunter2", Person([:] as [Factor.Key: Secret], choosing: "SMS"))
        // The step with the password was accepted, so the password serves again.
        #expect(bench.sent.filter { $0 == login }.count == 2)
        #expect(bench.events.words.contains("wait unavailable 1.0"))
    }

    /// Nobody knows whether the password was tried and counted, so the same one does not go out again by itself.
    @Test(arguments: [
        ScriptedTransport.Step.error(500, "Authentication Error!!", number: "102"), .status(408),
        .status(408, [:], body: "<html>"),
    ])
    func afterAnAnswerThatProvesNothingThePasswordIsAskedFor(answer: ScriptedTransport.Step) async throws {
        let silent = try ForgeRockBench([.login, answer, .login, .success()])
        let error = await #expect(throws: Challenge.NoAnswer.self) { try await silent.signIn() }
        #expect(error?.key == .password && error?.cause != nil)
        #expect(silent.sent == [start, login, start])
        let bench = try ForgeRockBench([.login, answer, .step(AM.name, AM.password, id: "b1"), .success()])
        _ = try await bench.signIn("hunter2", Person([.password: "typed"]))
        #expect(bench.sent == [start, login, start, #"authenticate b1 "ada" "typed""#])
    }

    @Test(arguments: [
        #"{"authId":"j","callbacks":{"a":1}}"#, #"{"authId":"j","callbacks":7}"#, #"{"authId":"j","callbacks":""}"#,
        #"{"authId":"j","callbacks":[\(AM.name),7,null]}"#, #"{"authId":"j","callbacks":[[]]}"#,
        #"{"authId":7,"callbacks":[\(AM.name)]}"#, #"{"authId":{},"callbacks":[\(AM.name)]}"#,
        #"{"authId":"j","callbacks":[{"type":"NameCallback","input":{"name":"IDToken1"}}]}"#,
        #"{"authId":"j","callbacks":[{"type":"NameCallback","input":["IDToken1"]}]}"#,
    ])
    func aMalformedStepIsRefusedAndNotAnswered(body: String) async throws {
        let body = body.replacing(#"\(AM.name)"#, with: AM.name)
        let bench = try ForgeRockBench(Array(repeating: .status(200, [:], body: body), count: 40))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unreadable)
        #expect(bench.sent == [start])
        #expect(Exchanged(status: 200, body: body).outcome.kind == .unreadable)
    }

    @Test func aStepWithMoreCallbacksThanAnyHasIsRefused() async throws {
        let many = Array(repeating: AM.text("x"), count: 257).joined(separator: ",")
        let bench = try ForgeRockBench([.status(200, [:], body: #"{"authId":"j","callbacks":[\#(many)]}"#)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unreadable && bench.sent == [start])
    }

    @Test func pollsWaitOnTheClientsClockAndAreSeen() async throws {
        let bench = try ForgeRockBench([
            .login, .step(AM.poll("1000", "Look at your phone"), AM.confirmation("Exit"), id: "a2"),
            .step(AM.poll("2500"), id: "a3"), .success(),
        ])
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.sent.suffix(2) == [#"authenticate a2 """#, "authenticate a3"])
        #expect(bench.clock.requestedDelays.prefix(2) == [.seconds(1), .milliseconds(2500)])
        let waits = bench.events.words.filter { $0.hasPrefix("wait") }
        #expect(waits == ["wait challenge_pending 1.0", "wait challenge_pending 2.5"])
        #expect(person.notices.first?.userMessage == "Look at your phone")
    }

    @Test(.timeLimit(.minutes(30)))
    func aPollThatNeverEndsEnds() async throws {
        let bench = try ForgeRockBench(Array(repeating: .step(AM.poll("30000")), count: 1000))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .challengeExpired)
        #expect((25...35).contains(bench.transport.received.count))
    }

    @Test(arguments: ["0", "-5", "", "soon"])
    func pollsHaveAPaceWhateverTheServerSays(pause: String) async throws {
        let bench = try ForgeRockBench([.login] + Array(repeating: .step(AM.poll(pause)), count: 30) + [.success()])
        _ = try await bench.signIn()
        #expect(bench.clock.requestedDelays.count >= 30)
        #expect(bench.clock.requestedDelays.allSatisfy { $0 >= .milliseconds(250) })
    }

    @Test(.timeLimit(.minutes(30)))
    func aPollIsCancelledAtOnce() async throws {
        let bench = try ForgeRockBench([.step(AM.poll("60000"))])
        let task = Task { try await bench.forgeRock.signIn(identifier: "ada", answering: Person()) }
        await bench.clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.transport.received.count == 1)
    }

    @Test func aPushThatIsRejectedIsNotSentAgainByItself() async throws {
        let bench = try ForgeRockBench([
            .login, .step(AM.choice("Push", "SMS"), id: "a2"), .step(AM.poll(), id: "a3"), .error(401, "Login failure"),
        ])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person(choosing: "Push"))
        }
        #expect(error?.kind == .declined)
        #expect(bench.transport.received.count == 4)
    }

    @Test func choicesAreMadeByThePersonElseByTheServersDefault() async throws {
        let steps: [ScriptedTransport.Step] = [.step(AM.choice("Email", "SMS", "Authenticator app")), .success()]
        let bench = try ForgeRockBench(steps)
        let person = Person(choosing: "Authenticator app")
        _ = try await bench.signIn(nil, person)
        #expect(bench.sent.last == "authenticate a1 2")
        #expect(person.choices == [["Email", "SMS", "Authenticator app"]])
        #expect(person.notices.map(\.userMessage) == ["How?"])
        let byPreference = try ForgeRockBench(steps)
        _ = try await byPreference.signIn(nil, Person(), options: SignInOptions(preference: [.phoneCode]))
        #expect(byPreference.sent.last == "authenticate a1 1")
    }

    @Test func confirmationsStandAsideWhereSomethingElseIsAsked() async throws {
        let bench = try ForgeRockBench([.step(AM.code, AM.confirmation("Submit", "Send again")), .success()])
        _ = try await bench.signIn(nil, Person([.totp: "123456"]))
        #expect(bench.sent.last == #"authenticate a1 "123456" 0"#)
        let again = try ForgeRockBench([
            .step(AM.code, AM.confirmation("Submit", "Send again")),
            .step(AM.code, AM.confirmation("Submit", "Send again"), id: "a2"), .success(),
        ])
        _ = try await again.signIn(nil, Person([.totp: [.resend, .text("1")]]))
        #expect(again.sent.suffix(2) == [#"authenticate a1 "" 1"#, #"authenticate a2 "1" 0"#])
        let other = try ForgeRockBench([
            .step(AM.code, AM.confirmation("Submit", "Use Recovery Code")), .step(AM.code, id: "a2"), .success(),
        ])
        _ = try await other.signIn(nil, Person([.totp: [.useAnotherFactor, .text("9")]]))
        #expect(other.sent[1] == #"authenticate a1 "" 1"#)
        let alone = try ForgeRockBench([.step(AM.text("Sure?"), AM.confirmation("Yes", "No", index: 1)), .success()])
        _ = try await alone.signIn(nil, Person(choosing: "No"))
        #expect(alone.sent.last == "authenticate a1 1")
        let single = try ForgeRockBench([.step(AM.text("Hi"), AM.confirmation("OK", index: 1)), .success()])
        let person = Person()
        _ = try await single.signIn(nil, person)
        #expect(single.sent.last == "authenticate a1 0" && person.choices.isEmpty)
        #expect(person.notices.first?.userMessage == "Hi")
    }

    @Test func brokenRulesOfANewPasswordAreToldAndItIsAskedForAgain() async throws {
        let plain = callback("ValidatedCreatePasswordCallback", #"{"name":"prompt","value":"New"}"#, inputs: 2)
        let broken = callback(
            "ValidatedCreatePasswordCallback",
            #"{"name":"prompt","value":"New"},"# + ForgeRockAnswerTests.failed,
            inputs: 2
        )
        let bench = try ForgeRockBench([.step(plain), .step(broken, id: "a2"), .success()])
        let person = Person([.newPassword: [.text("short"), .text("long enough")]])
        _ = try await bench.signIn(nil, person)
        #expect(bench.sent.suffix(2) == [#"authenticate a1 "short" """#, #"authenticate a2 "long enough" """#])
        #expect(person.notices.map(\.kind) == [.passwordRejected])
        #expect(FailedPolicy(requirement: "MIN_LENGTH", parameters: ["minLength": 8]).sentence.contains("8"))
    }

    @Test func furtherQuestionsAreAsked() async throws {
        let terms = callback("TermsAndConditionsCallback", #"{"name":"terms","value":"Be nice"}"#)
        let kba =
            #"{"type":"KbaCreateCallback","output":[{"name":"prompt","value":"Question"},{"name":"predefinedQuestions","value":["Pet?","City?"]}],"input":[{"name":"IDToken2question","value":""},{"name":"IDToken2answer","value":""}]}"#
        let agree = callback(
            "BooleanAttributeInputCallback",
            #"{"name":"prompt","value":"News?"}"#,
            inputs: 2,
            index: 3
        )
        let number = callback("NumberAttributeInputCallback", #"{"name":"prompt","value":"Age"}"#, inputs: 2, index: 4)
        let provider = callback(
            "SelectIdPCallback",
            #"{"name":"providers","value":[{"provider":"a"},{"provider":"b"}]}"#,
            index: 5
        )
        let bench = try ForgeRockBench([.step(terms, kba, agree, number, provider), .success()])
        let person = Person(
            [
                .choice: [.text("yes"), .text("no")], .securityAnswer: [.text("Rex")],
                .text: [.text("x"), .text("42")],
            ],
            choosing: "City?"
        )
        _ = try await bench.signIn(nil, person)
        #expect(
            bench.sent.last == #"authenticate a1 true "City?" "Rex" false "" 42 "" "a""#
        )
        #expect(person.questions.first?.prompt == "Be nice")
    }

    @Test func whatCannotBeDoneHereIsSaid() async throws {
        let captcha = try ForgeRockBench([.step(callback("ReCaptchaCallback"))])
        let first = await #expect(throws: RecoveryError.self) { try await captcha.signIn() }
        #expect(first?.kind == .challengeRequired)
        let binding =
            #"{"type":"DeviceBindingCallback","output":[],"input":[{"name":"IDToken1jws","value":""},{"name":"IDToken1clientError","value":""}]}"#
        let bound = try ForgeRockBench([.step(binding), .success()])
        _ = try await bound.signIn()
        #expect(bound.sent.last == #"authenticate a1 "" "Unsupported""#)
    }

    @Test func theJourneysCookiesGoBack() async throws {
        let bench = try ForgeRockBench([
            .step(AM.name, AM.password, fields: ["set-cookie": "amlbcookie=01; Path=/; HttpOnly"]),
            .step(AM.code, id: "a2", fields: ["set-cookie": "amlbcookie=; Max-Age=0"]), .success(),
        ])
        _ = try await bench.signIn("hunter2", Person([.totp: "1"]))
        #expect(bench.transport.received.map { $0.request.headerFields[.cookie] } == [nil, "amlbcookie=01", nil])
    }

    @Test func theCookieThatHoldsTheSessionTellsItsName() async throws {
        let bench = try ForgeRockBench(
            [
                .success("S9", ["set-cookie": "a1b2c3=S9; Path=/"]),
                .status(200, [:], body: #"{"username":"ada","realm":"/alpha"}"#),
            ],
            cookieName: nil
        )
        _ = try await bench.signIn()
        #expect(try await bench.forgeRock.session()?.username == "ada")
        #expect(bench.transport.received[1].request.headerFields[.cookie] == "a1b2c3=S9")
    }

    @Test func interceptorsSeeWhatTheRequestIsFor() async throws {
        struct Tracer: ForgeRockInterceptor {
            let seen: Locked<[String]>
            func intercept(_ request: HTTPRequest, action: ForgeRockAction, journey: String?) -> HTTPRequest {
                seen.withLock { $0.append("\(action.rawValue) \(journey ?? "-")") }
                var request = request
                request.headerFields[HTTPField.Name("x-trace")!] = "1"
                return request
            }
        }
        let seen = Locked<[String]>([])
        let bench = try ForgeRockBench([.login, .success()], interceptors: [Tracer(seen: seen)])
        _ = try await bench.signIn()
        #expect(seen.withLock { $0 } == ["START_AUTHENTICATE Login", "AUTHENTICATE Login"])
        #expect(bench.transport.received.allSatisfy { $0.request.headerFields[HTTPField.Name("x-trace")!] == "1" })
    }

    @Test func aJourneyWithoutASessionEndsWithoutOne() async throws {
        let bench = try ForgeRockBench([.login, .success(nil)])
        var journey = bench.forgeRock.journey(options: JourneyOptions(forcesAuthentication: true, skipsSession: true))
        guard case .step(var step) = try await journey.begin() else { throw Challenge.NoAnswer(.text) }
        step.callbacks[0].setInput("ada")
        step.callbacks[1].setInput("p")
        guard case .success(let success) = try await journey.submit(step) else { throw Challenge.NoAnswer(.text) }
        #expect(success.token == nil)
        #expect(bench.sent[0] == start + "&ForceAuth=true&noSession=true")
        #expect(try await bench.credentials == Credentials())
    }
}
