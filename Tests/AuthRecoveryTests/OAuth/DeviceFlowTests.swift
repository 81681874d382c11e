import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("The device flow")
struct DeviceFlowTests {
    private static let begun =
        #""device_code":"D","user_code":"WDJB-MJHT","verification_uri":"https://id.example.com/d""#

    private static func start(_ members: String = #","expires_in":60,"interval":5"#) -> OAuthBench.Step {
        .status(200, [:], body: "{\(begun)\(members)}")
    }

    private static let pending = OAuthBench.Step.oauth("authorization_pending")

    /// Runs a flow and tells at which second each poll arrived.
    private static func run(_ steps: [OAuthBench.Step]) async throws -> (
        bench: OAuthBench, end: Result<OAuthClient.TokenAnswer, any Error>, polls: [Int64]
    ) {
        let polls = Locked<[Int64]>([])
        let clock = Locked<ManualClock?>(nil)
        let timed = steps.dropFirst().map { step in
            OAuthBench.Step.run { received in
                let now = clock.withLock { $0?.now.offset } ?? .zero
                polls.withLock { $0.append(now.components.seconds) }
                let inner = ScriptedTransport([step])
                return try await inner.send(received.request, body: nil, options: AttemptOptions())
            }
        }
        let bench = try OAuthBench(Array(steps.prefix(1)) + timed)
        clock.withLock { $0 = bench.clock }
        let device = try await bench.oauth.authorizeDevice(scope: "openid")
        let end: Result<OAuthClient.TokenAnswer, any Error>
        do {
            end = .success(try await bench.skippingWaits { try await bench.oauth.tokens(for: device) })
        } catch {
            end = .failure(error)
        }
        return (bench, end, polls.withLock { $0 })
    }

    @Test func aPollThatIsHeldUpPastTheEndNeverLeaves() async throws {
        let bench = try OAuthBench(
            [Self.start(), Self.pending, .tokens()],
            holdUp: { clock, number in if number == 3 { clock.advance(by: .seconds(60)) } }
        )
        let device = try await bench.oauth.authorizeDevice()
        let error = try await bench.failure { try await bench.oauth.tokens(for: device) }
        #expect(error.kind == .flowExpired && error.remedies == [.restartFlow])
        #expect(error.outcome.code == "expired_token")
        #expect(bench.sent.count == 2, "the start and one poll")
    }

    @Test func fromBeginningToEnd() async throws {
        let (bench, end, polls) = try await Self.run([Self.start(), Self.pending, Self.pending, .tokens()])
        #expect(try end.get().accessToken == "A2")
        #expect(polls == [5, 10, 15])
        let poll =
            "POST /token grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=D&client_id=app"
        #expect(bench.sent == ["POST /device scope=openid&client_id=app", poll, poll, poll])
        let wait = "wait challenge_pending 5.0"
        #expect(
            bench.events.words == [
                "attempt 1", "response 1 200", "done ok 1", wait, "attempt 1", "response 1 400", wait, "attempt 2",
                "response 2 400", wait, "attempt 3", "response 3 200", "done ok 3",
            ]
        )
        // All polls and the waits between them are one operation.
        #expect(bench.events.events.map(\.call) == [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    }

    @Test func slowDownLastsForGood() async throws {
        let slow = OAuthBench.Step.oauth("slow_down")
        let (_, end, polls) = try await Self.run([
            Self.start(#","expires_in":600,"interval":2"#), Self.pending, slow, Self.pending, slow, .tokens(),
        ])
        #expect(try end.get().accessToken == "A2")
        #expect(polls == [2, 4, 11, 18, 30])
    }

    @Test func theServersOwnTimeCounts() async throws {
        let (_, _, polls) = try await Self.run([
            Self.start(#","expires_in":600"#), .status(200, [:], body: #"{"error":"slow_down","interval":30}"#),
            .oauth("authorization_pending", ["retry-after": "50"]),
            .oauth("slow_down", status: 429, ["retry-after": "1"]),
            .tokens(),
        ])
        #expect(polls == [5, 35, 85, 100])
    }

    @Test(arguments: [
        OAuthBench.Step.fail(.timedOut, .unknown), .fail(.connectionLost, .unknown), .status(500),
        .status(502, [:], body: "<html>"),
    ])
    func lostAnswersBackOff(step: OAuthBench.Step) async throws {
        let (bench, end, polls) = try await Self.run([
            Self.start(#","expires_in":600"#), step, step, Self.pending, step, step, step, .tokens(),
        ])
        #expect(try end.get().accessToken == "A2")
        #expect(polls == [5, 15, 35, 55, 95, 155, 215], "doubled for good, up to a minute")
        #expect(bench.waits.count == 7)
    }

    @Test(arguments: [
        ("access_denied", Outcome.Kind.declined), ("expired_token", .flowExpired),
        ("invalid_grant", .credentialRejected), ("invalid_client", .misconfigured), ("made_up", .invalidRequest),
    ])
    func whatEndsIt(word: String, kind: Outcome.Kind) async throws {
        let (bench, end, polls) = try await Self.run([Self.start(), Self.pending, .oauth(word), .tokens()])
        let error = try #require(#expect(throws: RecoveryError.self) { try end.get() })
        #expect(error.kind == kind && error.oauth?.word.rawValue == word && polls == [5, 10])
        #expect(bench.events.words.last == "done failed 2")
    }

    @Test func itStopsWhenNoPollWouldBeInTime() async throws {
        let steps = [Self.start(#","expires_in":12"#)] + Array(repeating: Self.pending, count: 9)
        let (bench, end, polls) = try await Self.run(steps)
        let error = try #require(#expect(throws: RecoveryError.self) { try end.get() })
        #expect(polls == [5, 10] && bench.clock.now.offset == .seconds(10))
        #expect(error.kind == .flowExpired && error.oauth?.word == .expiredToken && error.remedies == [.restartFlow])
    }

    @Test func aThrottlePastTheEndIsToldAsOne() async throws {
        let (_, end, _) = try await Self.run([Self.start(), .status(429, ["retry-after": "300"])])
        let error = try #require(#expect(throws: RecoveryError.self) { try end.get() })
        #expect(error.kind == .rateLimited && error.retryAfter == .seconds(300))
    }

    @Test func aThrottleWithinTheTimeIsOutlived() async throws {
        let (_, end, polls) = try await Self.run([
            Self.start(#","expires_in":900"#), .status(429, ["retry-after": "300"]), .tokens(),
        ])
        #expect(try end.get().accessToken == "A2")
        #expect(polls.first == 5 && (polls.last ?? 0) >= 305)
    }

    @Test func aCertificateThatIsWrongEndsIt() async throws {
        let (_, end, polls) = try await Self.run([Self.start(), .fail(.certificateRejected, .neverSent), .tokens()])
        let error = try #require(#expect(throws: RecoveryError.self) { try end.get() })
        #expect(error.kind == .transport && polls == [5])
    }

    @Test(arguments: [
        ("", 5, 600), (#","expires_in":"30","interval":"7""#, 7, 30), (#","expires_in":-1,"interval":-1"#, 1, 0),
        (#","expires_in":1e400,"interval":0"#, 1, 86_400), (#","expires_in":null,"interval":"x""#, 5, 600),
        (#","expires_in":1800.0,"interval":1e2"#, 100, 1800),
    ])
    func whatTheServerStates(members: String, interval: Int64, lifetime: Int64) async throws {
        let bench = try OAuthBench([Self.start(members)])
        let device = try await bench.oauth.authorizeDevice()
        #expect(device.interval == .seconds(interval))
        #expect(device.expiresAt.sinceStart == .seconds(lifetime))
        #expect(device.userCode == "WDJB-MJHT" && device.verificationURI == "https://id.example.com/d")
        #expect(device.verificationURIComplete == nil && device.deviceCode == "D")
    }

    @Test func anOlderSpellingIsRead() async throws {
        let body =
            #"{"device_code":"D","user_code":"U","verification_url":"https://g.co/d","verification_url_complete":"https://g.co/d?U"}"#
        let bench = try OAuthBench([.status(200, [:], body: body)])
        let device = try await bench.oauth.authorizeDevice()
        #expect(device.verificationURI == "https://g.co/d" && device.verificationURIComplete == "https://g.co/d?U")
    }

    @Test(arguments: ["", "{}", #"{"device_code":"D"}"#, #"{"device_code":"","user_code":"U","verification_uri":"u"}"#])
    func anAnswerThatLacksSomethingIsNone(body: String) async throws {
        let bench = try OAuthBench([.status(200, [:], body: body)])
        let error = try await bench.failure { try await bench.oauth.authorizeDevice() }
        #expect(error.kind == .unreadable)
    }

    @Test func cancellationEndsAWaitAtOnce() async throws {
        let bench = try OAuthBench([Self.start(), Self.pending])
        let device = try await bench.oauth.authorizeDevice()
        let seen = Locked<[String]>([])
        let task = Task {
            try await bench.oauth.tokens(for: device) { event in seen.withLock { $0.append(event.kind.words) } }
        }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(5))
        await bench.clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.clock.now.offset == .seconds(5) && bench.sent.count == 2)
        let wait = "wait challenge_pending 5.0"
        #expect(seen.withLock { $0 } == [wait, "attempt 1", "response 1 400", wait, "done cancelled 1"])
    }
}
