import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Signing in to Facebook and out")
struct FacebookSessionTests {
    @Test func aPersonEntersTheCode() async throws {
        let bench = try FacebookBench(
            [.device, .pending, .error(17, 1_349_172), .pending, .token(), .me],
            credentials: Credentials()
        )
        let person = Person()
        let session = try await bench.skippingWaits { try await bench.facebook.signIn(answering: person) }
        #expect(session.user?.name == "Ada")
        #expect(session.expiresAt == Timestamp(secondsSinceEpoch: 1_893_456_000 + 5_183_999 + 5 + 5 + 10 + 10))
        #expect(person.shown.map(\.number) == ["ABCD"])
        #expect(person.shown.first?.prompt?.contains("https://facebook.com/device") == true)
        #expect(bench.sent[0] == "POST /v25.0/device/login access_token=77%7Cct&scope=public_profile")
        #expect(bench.sent[1] == "POST /v25.0/device/login_status access_token=77%7Cct&code=dev1")
        #expect(
            bench.events.words.filter { $0.hasPrefix("wait") }.map { $0.split(separator: " ")[2] } == [
                "5.0", "5.0", "10.0", "10.0",
            ]
        )
        #expect(bench.events.words.contains("challenge push"))
        #expect(!bench.events.words.contains { $0.hasPrefix("failure") })
        #expect(try await bench.credentials.accessToken == "tok2")
        #expect(bench.presented.last == "Bearer tok2")
    }

    @Test func answersThatAreLostEndNoLogin() async throws {
        let bench = try FacebookBench(
            [
                .device, .fail(.connectionLost, .unknown), .status(502), .token(), .status(500), .status(500),
                .status(500),
            ],
            credentials: Credentials()
        )
        let session = try await bench.skippingWaits { try await bench.facebook.signIn(answering: Person()) }
        // Who it is can be asked later.
        #expect(session.user == nil)
        #expect(try await bench.credentials.accessToken == "tok2")
    }

    /// The answer that was lost held the token: the code is used up, and the login begins again.
    @Test func aTokenThatIsLostOnTheWayIsObtainedAgain() async throws {
        let bench = try FacebookBench(
            [.device, .fail(.connectionLost, .unknown), .error(100), .device, .token(), .me],
            credentials: Credentials()
        )
        let person = Person()
        let session = try await bench.skippingWaits { try await bench.facebook.signIn(answering: person) }
        #expect(session.user?.name == "Ada")
        #expect(person.shown.count == 2)

        let wrong = try FacebookBench([.device, .error(100)], credentials: Credentials())
        let error = await #expect(throws: RecoveryError.self) {
            try await wrong.skippingWaits { try await wrong.facebook.signIn(answering: Person()) }
        }
        #expect(error?.kind == .invalidRequest)
    }

    /// What stops the login is told as what it is, whatever bound stops it.
    @Test(arguments: [
        (SignInOptions(maxWait: .seconds(10)), History.StopReason.waitExceedsLimit),
        (SignInOptions(deadline: .seconds(20)), .deadlineWouldPass),
    ])
    func noWaitIsLongerThanAllowed(options: SignInOptions, reason: History.StopReason) async throws {
        let limit = ScriptedTransport.Step.status(
            400,
            ["Retry-After": "60"],
            body: Recorded.error(4)
        )
        let bench = try FacebookBench([.device, limit], credentials: Credentials()) { Recovery(maxAttempts: 1) }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.facebook.signIn(answering: Person(), options: options)
            }
        }
        #expect(error?.kind == .rateLimited)
        #expect(error?.reason == reason)
        #expect(error?.retryAfter == .seconds(60))
        #expect(bench.transport.received.count == 2)

        let pending = try FacebookBench([.device], credentials: Credentials())
        let early = await #expect(throws: RecoveryError.self) {
            try await pending.facebook.signIn(
                answering: Person(),
                options: SignInOptions(maxWait: .seconds(1))
            )
        }
        #expect(early?.kind == .timedOut)
        #expect(early?.reason == .waitExceedsLimit)
    }

    @Test func aNoIsANo() async throws {
        let bench = try FacebookBench([.device, .error(31, 1_349_173)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.signIn(answering: Person()) }
        }
        #expect(error?.kind == .declined)
        // Whoever was signed in stays so.
        #expect(try await bench.credentials.accessToken == "tok1")
    }

    @Test func aCodeThatRanOutIsReplacedOnce() async throws {
        let bench = try FacebookBench(
            [.device, .error(463, 1_349_152), .device, .error(463, 1_349_152)],
            credentials: Credentials()
        )
        let person = Person()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.signIn(answering: person) }
        }
        #expect(error?.kind == .flowExpired)
        #expect(person.shown.count == 2)
    }

    @Test func theLoginEndsWithItsTime() async throws {
        let short = #"{"code":"d","user_code":"U","verification_uri":"https://f/d","expires_in":12,"interval":5}"#
        let bench = try FacebookBench([.answer(short), .pending, .pending], credentials: Credentials())
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.facebook.signIn(answering: Person(), options: SignInOptions(maxRestarts: 0))
            }
        }
        #expect(error?.kind == .flowExpired)
        #expect(bench.transport.received.count == 3)
    }

    /// The numbers of a login that make no sense count as unstated: 5 s, and 420 s.
    @Test(arguments: [
        ("5", "420", 5, 420), ("-1", "420", 5, 420), ("0", "420", 5, 420), ("1e30", "420", 5, 420),
        ("420", "420", 5, 420), ("\"-1\"", "420", 5, 420), ("0.5", "420", 1, 420), ("7", "-5", 7, 420),
        ("7", "0", 7, 420), ("7", "\"x\"", 7, 420), ("1e30", "1e30", 5, 86_400), ("10", "60", 10, 60),
    ])
    func theNumbersOfALoginMakeSense(interval: String, life: String, pause: Int, span: Int) async throws {
        let bench = try FacebookBench([
            .answer(
                #"{"code":"d","user_code":"U","verification_uri":"https://f/d","expires_in":\#(life),"interval":\#(interval)}"#
            )
        ])
        let start = bench.clock.timeSource().now
        let device = try await bench.facebook.beginDeviceLogin()
        #expect(device.interval == .seconds(pause))
        #expect(start.duration(to: device.expiresAt) == .seconds(span))
    }

    @Test func aQuestionThatIsHeldUpPastTheLoginsEndNeverLeaves() async throws {
        let bench = try FacebookBench(
            [.device, .pending, .token(), .me],
            credentials: Credentials(),
            holdUp: { clock, number in if number == 3 { clock.advance(by: .seconds(420)) } }
        )
        let device = try await bench.facebook.beginDeviceLogin()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.finishDeviceLogin(device) }
        }
        #expect(error?.kind == .flowExpired && error?.remedies == [.restartFlow])
        #expect(bench.sent.count == 2, "the start and one question")
    }

    @Test func stepByStep() async throws {
        let bench = try FacebookBench([.device, .pending, .token(), .me], credentials: Credentials())
        let device = try await bench.facebook.beginDeviceLogin(permissions: ["email"])
        #expect(device.userCode == "ABCD")
        #expect("\(device)" == "OAuthClient.DeviceAuthorization")
        let session = try await bench.skippingWaits { try await bench.facebook.finishDeviceLogin(device) }
        #expect(session.user?.id == "1")
        #expect(bench.sent[0].hasSuffix("scope=email"))
    }

    @Test func anAppWithoutAClientTokenSaysSo() async throws {
        let bench = try FacebookBench(app: FacebookApp(id: "77"))
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.beginDeviceLogin() }
        #expect(error?.kind == .misconfigured)
        #expect(error?.outcome.parameter == "client_token")
        #expect(bench.transport.received.isEmpty)
    }

    @Test func aDeadTokenIsReplacedByASignInAndTheCallRepeated() async throws {
        let bench = try FacebookBench(
            [.error(190, 463), .device, .token(), .me, .answer(#"{"id":"9"}"#)],
            credentials: FacebookBench.ada
        )
        let response = try await bench.skippingWaits {
            try await bench.facebook.send(.post, path: "me/feed", body: .form(["message": "x"]), answering: Person())
        }
        #expect(response.status == .ok)
        #expect(bench.sent.last == "POST /v25.0/me/feed message=x")
        #expect(bench.presented.last == "Bearer tok2")
    }

    @Test func aPersonWhoHasToActIsSentThereAndKeepsTheToken() async throws {
        let bench = try FacebookBench([.error(190, 459), .me])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.currentUser() }
        #expect(error?.kind == .userActionRequired)
        #expect(error?.remedies == [.visitProvider])
        // After they have been there, the same token works.
        #expect(try await bench.facebook.currentUser()?.id == "1")
        #expect(bench.presented == ["Bearer tok1", "Bearer tok1"])
    }

    @Test func nobodyIsSignedInAnyMore() async throws {
        let bench = try FacebookBench([.error(190, 467)])
        #expect(try await bench.facebook.currentUser() == nil)
        #expect(try await bench.facebook.currentUser() == nil)
        #expect(bench.transport.received.count == 1)
    }

    @Test func signingOutForgetsAndRevokesWhereAsked() async throws {
        let local = try FacebookBench([.me])
        _ = try await local.facebook.currentUser()
        try await local.facebook.signOut()
        #expect(try await local.credentials == Credentials())
        #expect(local.transport.received.count == 1)

        let revoking = try FacebookBench([.answer(#"{"success":true}"#)])
        try await revoking.facebook.signOut(revoking: true)
        #expect(revoking.sent == ["DELETE /v25.0/me/permissions"])
        #expect(try await revoking.credentials == Credentials())

        let dead = try FacebookBench([.error(190, 463)])
        try await dead.facebook.signOut(revoking: true)
        #expect(try await dead.credentials == Credentials())

        let failing = try FacebookBench([.status(500), .status(500), .status(500)])
        await #expect(throws: RecoveryError.self) {
            try await failing.skippingWaits { try await failing.facebook.signOut(revoking: true) }
        }
        #expect(try await failing.credentials.accessToken == "tok1")
    }

    @Test func permissionsAndTokensAreTold() async throws {
        let bench = try FacebookBench(
            [
                .answer(
                    #"{"data":[{"permission":"email","status":"granted"},{"permission":"x","status":"declined"},7]}"#
                ),
                .answer(
                    #"{"data":{"app_id":"77","type":"USER","expires_at":0,"is_valid":true,"issued_at":5,"scopes":["email"],"user_id":"1"}}"#
                ),
            ],
            app: FacebookBench.service
        )
        let permissions = try await bench.facebook.permissions()
        #expect(permissions.map(\.status) == [.granted, .declined])
        let info = try await bench.facebook.inspect()
        #expect(info.isValid)
        #expect(info.expiresAt == nil)
        #expect(info.scopes == ["email"])
        #expect(info.userID == "1")
    }

    @Test func theVersionCanBeChosen() async throws {
        for (version, path) in [("v19.0", "/v19.0/me"), ("20.0", "/v20.0/me"), (nil, "/me")] as [(String?, String)] {
            let bench = try FacebookBench([.me], configuration: FacebookConfiguration(version: version))
            _ = try await bench.facebook.send(path: "me")
            #expect(bench.sent == ["GET \(path)"])
        }
        let bench = try FacebookBench([.me, .me])
        _ = try await bench.facebook.send(path: "/v18.0/me")
        #expect(bench.sent == ["GET /v18.0/me"])
        #expect(throws: Origin.InvalidURL.self) {
            try FacebookBench(configuration: FacebookConfiguration(version: "latest"))
        }
    }

    @Test(arguments: ["https://x?x=1", "https://x/?", "https://x/v25.0?x=1", "https://x#y", "https://x/#", "x"])
    func aURLOfGraphHasNeitherQueryNorFragment(url: String) {
        #expect(throws: Origin.InvalidURL.self) {
            try Facebook(
                app: FacebookBench.app,
                graph: url,
                client: RecoveringClient(transport: ScriptedTransport(), runtime: .manual()),
                tokens: InMemoryTokenStore()
            )
        }
    }

    @Test func theSentTableIsRead() async throws {
        let bench = try FacebookBench([
            .answer(#"{"ios_sdk_error_categories":[{"name":"transient","items":[{"code":7001}]}]}"#)
        ])
        let table = try await bench.facebook.errorConfiguration()
        #expect(table.category(code: 7001) == .transient)
        #expect(table.category(code: 190) == .recoverable)
        #expect(bench.sent == ["GET /v25.0/77?fields=ios_sdk_error_categories"])
    }
}
