import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("How a journey of PingAM is begun")
struct ForgeRockBeginningTests {
    private static let name = HTTPField.Name("X-OpenAM-Username")!
    private static let password = HTTPField.Name("X-OpenAM-Password")!

    @Test(
        arguments: [
            ("User Name", .text), ("Customer code", .text), ("Enter your employee code or e-mail", .text),
            ("Username (not your one-time code)", .text), ("User ID or passcode", .text), ("Country code", .text),
            ("Promo code that you were given", .text),
            ("Enter verification code", .totp), ("One Time Password", .totp), ("Enter your OTP", .totp),
            ("Recovery Code", .backupCode), ("Enter the code", .totp), ("Code sent to your phone", .phoneCode),
            ("6-digit code", .totp), ("Hotplate", .text), ("Enter the code we sent by e-mail", .emailCode),
        ] as [(String, Factor.Key)]
    )
    func aNameIsANameUnlessItsPromptSaysOtherwise(prompt: String, key: Factor.Key) async throws {
        for type in ["NameCallback", "TextInputCallback"] {
            let asked = callback(type, #"{"name":"prompt","value":"\#(prompt)"}"#)
            let bench = try ForgeRockBench([.step(asked, AM.password), .success()])
            let person = Person([key: "typed"])
            _ = try await bench.signIn("hunter2", person)
            let isName = key == .text && type == "NameCallback"
            #expect(person.keys == (isName ? [] : [key]), "\(type)")
            #expect(bench.sent.last == #"authenticate a1 "\#(isName ? "ada" : "typed")" "hunter2""#)
        }
    }

    /// Whichever is named first is what is asked for.
    @Test(
        arguments: [
            ("Password or access code", .password), ("Enter your password (not the code)", .password),
            ("One-time password", .totp), ("Access code or password", .totp), ("Code to reset your password", .totp),
        ] as [(String, Factor.Key)]
    )
    func aPasswordIsAPasswordUnlessACodeIsNamedFirst(prompt: String, key: Factor.Key) async throws {
        let asked = callback("PasswordCallback", #"{"name":"prompt","value":"\#(prompt)"}"#)
        let bench = try ForgeRockBench([.step(AM.name, asked), .success()])
        let person = Person([key: "typed"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == (key == .password ? [] : [key]))
        #expect(bench.sent.last == #"authenticate a1 "ada" "\#(key == .password ? "hunter2" : "typed")""#)
    }

    @Test func aTextBesideANameMakesNoCodeOfIt() async throws {
        let bench = try ForgeRockBench([
            .step(AM.text("Have your one time password ready"), AM.name, AM.password), .success(),
        ])
        _ = try await bench.signIn()
        #expect(bench.sent.last == #"authenticate a1 "ada" "hunter2""#)
    }

    @Test func aSignInTakesTheJourneyAndItsOptions() async throws {
        let bench = try ForgeRockBench([
            .step(AM.name, AM.password), .error(401, "x", number: "\"110\""), .step(AM.name, AM.password, id: "b1"),
            .success(nil),
        ])
        let session = try await bench.skippingWaits {
            try await bench.forgeRock.signIn(
                .index(type: "level", value: "5"),
                with: JourneyOptions(forcesAuthentication: true, skipsSession: true),
                identifier: "ada",
                password: "hunter2",
                answering: Person()
            )
        }
        let begun = "authenticate?authIndexType=level&authIndexValue=5&ForceAuth=true&noSession=true"
        #expect(
            bench.sent == [
                begun, #"authenticate a1 "ada" "hunter2""#, begun, #"authenticate b1 "ada" "hunter2""#,
            ]
        )
        #expect(!session.exists)
        #expect(try await bench.credentials == Credentials())
    }

    @Test func theProgramsOwnAnswersCountInASuspendedSignInToo() async throws {
        struct Scanner: JourneyCallbackResponder {
            func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool {
                guard callback.type == "RetinaScanCallback" else { return false }
                callback.setInput("scanned")
                return true
            }
        }
        let bench = try ForgeRockBench([
            .step(AM.password), .step(callback("RetinaScanCallback"), id: "a2"), .success(),
        ])
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: bench.tokens,
            configuration: ForgeRockConfiguration(realm: "alpha", callbacks: Scanner(), cookieName: "sso")
        )
        let memory = try await bench.skippingWaits {
            var flow = forgeRock.signInFlow(identifier: "ada", password: nil, options: nil)
            _ = try await flow.step(.begin)
            return flow.memory
        }
        var resumed = try #require(
            SignInFlow(memory: memory, client: bench.client, options: SignInOptions()) {
                forgeRock.signInMachine(from: $0)
            }
        )
        _ = try await resumed.step(.answer(.text("hunter2")))
        #expect(bench.sent.last == #"authenticate a2 "scanned""#)
    }

    // MARK: Zero-page login

    private func atOnce(
        _ steps: [ScriptedTransport.Step],
        name: String = "ada",
        password: Secret? = "hunter2",
        _ person: Person = Person()
    ) async throws -> ForgeRockBench {
        let bench = try ForgeRockBench(steps)
        _ = try await bench.skippingWaits {
            try await bench.forgeRock.signIn(
                nil,
                with: JourneyOptions(presentsLoginAtOnce: true),
                identifier: name,
                password: password,
                answering: person
            )
        }
        return bench
    }

    private func presented(_ bench: ForgeRockBench) -> [[String?]] {
        bench.transport.received.map { [$0.request.headerFields[Self.name], $0.request.headerFields[Self.password]] }
    }

    @Test func nameAndPasswordCanComeWithTheFirstRequest() async throws {
        let bench = try await atOnce([.success()])
        #expect(presented(bench) == [["ada", "hunter2"]])
        let more = try await atOnce([.step(AM.code), .success()], Person([.totp: "7"]))
        #expect(presented(more) == [["ada", "hunter2"], [nil, nil]])
        // Without both there is nothing to present.
        let half = try await atOnce([.login, .success()], password: nil, Person([.password: "p"]))
        #expect(presented(half) == [[nil, nil], [nil, nil]])
        #expect(half.sent.last == #"authenticate a1 "ada" "p""#)
    }

    @Test(arguments: [
        ("plain name@x", "plain name@x"), ("ɗëɱø", "=?UTF-8?B?yZfDq8mxw7g=?="),
        ("a\r\nX: y", "=?UTF-8?B?YQ0KWDogeQ==?="),
        ("=?UTF-8?B?QQ==?=", "=?UTF-8?B?PT9VVEYtOD9CP1FRPT0/PQ==?="),
    ])
    func whatAFieldCannotCarryIsEncoded(name: String, field: String) async throws {
        #expect(presented(try await atOnce([.success()], name: name)) == [[field, "hunter2"]])
    }

    @Test func aLongNameIsSeveralWords() async throws {
        let bench = try await atOnce([.success()], name: String(repeating: "ä", count: 60))
        let words = presented(bench)[0][0]?.split(separator: " ") ?? []
        #expect(words.count == 3 && words.allSatisfy { $0.utf8.count <= 75 })
    }

    @Test func aPasswordThatWasRefusedAtOnceIsNotPresentedAgain() async throws {
        let person = Person([.password: "right"])
        let bench = try await atOnce([.error(401, "Login failure"), .success()], password: "wrong", person)
        #expect(presented(bench) == [["ada", "wrong"], ["ada", "right"]])
        #expect(person.questions.map(\.round) == [2])
    }

    /// Whether it was looked at, nobody knows.
    @Test func aPasswordThatIsAskedForAllTheSameIsAskedOfThePerson() async throws {
        let person = Person([.password: "again"])
        let bench = try await atOnce([.login, .success()], person)
        #expect(bench.sent.last == #"authenticate a1 "ada" "again""#)
        #expect(person.keys == [.password])
    }

    @Test func anAnswerThatIsLostSpendsNoPasswordAgain() async throws {
        let bench = try ForgeRockBench([.fail(.connectionLost, .unknown), .success()])
        let options = JourneyOptions(presentsLoginAtOnce: true)
        await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.forgeRock.signIn(
                    nil,
                    with: options,
                    identifier: "ada",
                    password: "p",
                    answering: Person()
                )
            }
        }
        #expect(bench.transport.received.count == 1)
    }

    @Test func aJourneyByHandPresentsThemToo() async throws {
        let bench = try ForgeRockBench([.success()])
        var journey = bench.forgeRock.journey()
        _ = try await journey.begin(presenting: "ada", "p")
        #expect(presented(bench) == [["ada", "p"]])
    }

    // MARK: Session upgrade

    @Test func aSessionThatIsMadeStrongerIsNamedInTheFirstRequest() async throws {
        let held = Credentials(accessToken: "A", refreshToken: "R", ssoToken: "S 0")
        let bench = try ForgeRockBench(
            [.session(of: "ada"), .step(AM.password), .success("S1"), .session(of: "ada")],
            credentials: held
        )
        _ = try await bench.forgeRock.signIn(
            .service("StepUp"),
            with: JourneyOptions(upgradesSession: true),
            answering: Person([.password: "p"])
        )
        #expect(
            bench.sent == [
                "sessions?_action=getSessionInfo",
                "authenticate?authIndexType=service&authIndexValue=StepUp&sessionUpgradeSSOTokenId=S+0",
                #"authenticate a1 "p""#, "sessions?_action=getSessionInfo",
            ]
        )
        #expect(bench.transport.received[1].request.headerFields[.cookie] == "sso=S 0")
        // It is the same person's: their tokens stay.
        #expect(try await bench.credentials == Credentials(accessToken: "A", refreshToken: "R", ssoToken: "S1"))
        let none = try ForgeRockBench()
        let error = await #expect(throws: RecoveryError.self) {
            try await none.forgeRock.signIn(nil, with: JourneyOptions(upgradesSession: true), answering: Person())
        }
        #expect(error?.kind == .reauthenticationRequired && none.transport.received.isEmpty)
    }

    // MARK: What a new session replaces

    @Test func aNewSessionRevokesWhatItReplaces() async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S0")
        let bench = try ForgeRockBench(
            [.login, .success(), .status(200), .status(200, [:], body: #"{"result":"x"}"#)],
            credentials: held,
            oauth: ForgeRockBench.oauth
        )
        _ = try await bench.signIn()
        #expect(bench.sent.count == 4)
        #expect(bench.transport.received[2].request.path?.hasSuffix("/token/revoke") == true)
        #expect(bench.form(2)["token"] == "R0")
        #expect(bench.sent.last == "sessions?_action=logout")
        #expect(bench.transport.received[3].request.headerFields[.cookie] == "sso=S0")
        #expect(try await bench.credentials == Credentials(ssoToken: "S1"))
    }

    @Test(arguments: [
        ScriptedTransport.Step.status(503), .fail(.connectionLost, .unknown), .status(401), .status(400),
        .status(429, ["retry-after": "300"]),
    ])
    func whatCannotBeRevokedFailsNoSignIn(step: ScriptedTransport.Step) async throws {
        let bench = try ForgeRockBench([.login, .success(), step], credentials: Credentials(ssoToken: "S0"))
        _ = try await bench.signIn()
        #expect(bench.transport.received.count == 3, "it is told once")
        #expect(try await bench.credentials == Credentials(ssoToken: "S1"))
        // The session that is held already replaces nothing.
        let same = try ForgeRockBench([.login, .success("S0")], credentials: Credentials(ssoToken: "S0"))
        _ = try await same.signIn()
        #expect(same.transport.received.count == 2)
    }

    // MARK: Ending it by OpenID Connect

    private func signedIn(_ steps: [ScriptedTransport.Step]) async throws -> (ForgeRockBench, String) {
        let bench = try ForgeRockBench(
            [.authorized, .tokens("A1", refresh: "R1")] + steps,
            credentials: Credentials(ssoToken: "S1"),
            oauth: ForgeRockBench.oauth
        )
        _ = try await bench.forgeRock.accessToken()
        let member = try await bench.credentials.others.first { $0.key == "id_token" }
        return (bench, try #require(member?.value.string))
    }

    private let loggedOut = ScriptedTransport.Step.status(200, [:], body: #"{"result":"x"}"#)

    @Test func signingOutEndsTheSessionByTheIDTokenToo() async throws {
        let location = ["location": "https://app.example.com/bye"]
        for ended in [ScriptedTransport.Step.status(204), .status(302, location), .oauth(500, "server_error")] {
            let (bench, token) = try await signedIn([.status(200), ended, loggedOut])
            _ = try await bench.skippingWaits { try await bench.forgeRock.signOut() }
            let request = bench.transport.received[3].request
            #expect(request.method == .get)
            #expect(
                request.path
                    == "/am/oauth2/realms/root/realms/alpha/connect/endSession?id_token_hint=\(token)"
            )
            #expect(bench.sent.last == "sessions?_action=logout")
            #expect(bench.transport.received.count == 5)
            #expect(try await bench.credentials == Credentials())
        }
    }

    @Test func withoutASessionTheIDTokenAloneCanEndItAndIsKeptInAnOutage() async throws {
        let held = Credentials(others: [.init("id_token", "e30.e30.s")])
        let down = try ForgeRockBench(
            Array(repeating: .status(503), count: 9),
            credentials: held,
            oauth: ForgeRockBench.oauth
        )
        await #expect(throws: RecoveryError.self) {
            try await down.skippingWaits { try await down.forgeRock.signOut() }
        }
        #expect(try await down.credentials == held)
        for refused in [ScriptedTransport.Step.oauth(400, "bad_request"), .status(204)] {
            let bench = try ForgeRockBench([refused], credentials: held, oauth: ForgeRockBench.oauth)
            try await bench.forgeRock.signOut()
            #expect(try await bench.credentials == Credentials())
        }
    }

    @Test func aBrowserCanBeSentToTheEnd() async throws {
        let (bench, token) = try await signedIn([])
        let url = try await bench.forgeRock.endSessionURL(redirectURI: "https://a.example/x?y", state: "s&t")
        #expect(
            url?.reveal()
                == "https://id.example.com/am/oauth2/realms/root/realms/alpha/connect/endSession?id_token_hint="
                + "\(token)&post_logout_redirect_uri=https%3A%2F%2Fa.example%2Fx%3Fy&state=s%26t"
        )
        #expect(try await ForgeRockBench(oauth: ForgeRockBench.oauth).forgeRock.endSessionURL() == nil)
    }
}
