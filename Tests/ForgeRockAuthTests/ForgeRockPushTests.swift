import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// What becomes of a sign-in that waits for somebody's phone.
@Suite("Pushes that nobody confirms")
struct ForgeRockPushTests {
    private static func message(_ text: String) -> String {
        #"{"code":401,"reason":"Unauthorized","message":"\#(text)"}"#
    }

    // MARK: At the sandbox

    /// The name and the password were right: it is the person on the phone who has said no.
    @Test func aPushThatIsRefusedIsNoWrongPassword() async throws {
        let bench = ForgeRockSandboxBench { $0.pollCount = 1_000_000 }
        let person = bench.person(deciding: false)
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("Push", person) }
        #expect(error?.kind == .declined && error?.outcome.remedies == [.restartFlow])
        #expect(error?.userMessage.contains("refused") == true)
        #expect(error?.outcome.message == "Login failure" && error?.outcome.tokenAction == .clear)
        #expect(bench.counters.passwordAttempts == 1 && bench.counters.pushes == 1 && bench.counters.sessions == 0)
        #expect(person.questions.isEmpty && bench.events.words.contains { $0.contains("declined") })
    }

    @Test func aPushThatIsConfirmedGoesOnAtOnce() async throws {
        let bench = ForgeRockSandboxBench { $0.pollCount = 1_000_000 }
        #expect(try await bench.signIn("Push", bench.person(deciding: true)).exists)
        #expect(bench.counters.earlyPolls == 0)
    }

    @Test func aPushThatRunsOutIsNoWrongPassword() async throws {
        let bench = ForgeRockSandboxBench {
            $0.pollCount = 1_000_000
            $0.pushLife = 5000
            $0.failureURL = "https://am.example.com/failed"
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("Push", bench.person()) }
        #expect(error?.kind == .declined && error?.userMessage.contains("took too long") == true)
        #expect(bench.counters.passwordAttempts == 1 && bench.counters.pushes == 1)
        // Name and password, and one poll for each of the seconds.
        #expect(bench.steps == 2 + 5)
    }

    /// The retry node sends another one, with a number of its own; after the last the journey fails.
    @Test(arguments: [false, true])
    func aPushThatHasRunOutIsSentAgainByTheJourney(isConfirmed: Bool) async throws {
        let bench = ForgeRockSandboxBench {
            $0.pollCount = 1_000_000
            $0.pushLife = 3000
            $0.pushAttempts = 2
        }
        let person = bench.person(deciding: isConfirmed ? true : nil, about: 2)
        if isConfirmed {
            #expect(try await bench.signIn("PushRetry", person).exists)
        } else {
            let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("PushRetry", person) }
            #expect(error?.kind == .declined)
        }
        #expect(bench.counters.pushes == 2 && bench.counters.passwordAttempts == 1)
        let numbers = person.shown.compactMap(\.number)
        #expect(numbers.first == "42" && Set(numbers).count == 2)
    }

    @Test func aRefusalGoesOnWithWhatTheJourneyOffers() async throws {
        let bench = ForgeRockSandboxBench { $0.pollCount = 1_000_000 }
        let person = bench.person(deciding: false)
        #expect(try await bench.signIn("PushRetry", person).exists)
        #expect(person.keys == [.emailCode])
    }

    @Test func aPhoneThatIsNotSetUpInTimeIsTold() async throws {
        let bench = ForgeRockSandboxBench {
            $0.pollCount = 1_000_000
            $0.pushLife = 4000
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("RegisterPush", bench.person()) }
        #expect(error?.kind == .challengeExpired && error?.userMessage.contains("set up in time") == true)
        #expect(bench.counters.passwordAttempts == 1)
    }

    // MARK: What servers say

    @Test(arguments: [
        (401, #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":""}}"#),
        (401, #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":"https://x/f"}}"#),
        (401, #"{"code":"401","message":"Authentication Failed","detail":{"errorCode":"107"}}"#),
        (401, #"{"errorMessage":"Login failure","failureUrl":""}"#), (401, ""), (401, "null"),
        (200, #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":""}}"#),
    ])
    func theEndOfAWaitIsNoWrongPassword(status: Int, body: String) async throws {
        let bench = try ForgeRockBench([
            .login, .step(AM.poll(), AM.confirmation("Exit"), id: "a2"), .status(status, [:], body: body),
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .declined && error?.outcome.processed != .unknown)
        #expect(error?.userMessage.contains("other device") == true)
        #expect(bench.transport.received.count == 3)
    }

    /// What the server does say counts more.
    @Test(arguments: [
        (401, message("Your account has been locked."), Outcome.Kind.accountLocked),
        (401, message("User not Active"), .accountBlocked), (503, "", .unavailable),
        (401, #"{"code":401,"message":"x","detail":{"errorCode":"112"}}"#, .accountLocked),
        (401, #"{"code":401,"message":"x","detail":{"errorCode":115}}"#, .quotaExhausted),
        (400, message("No Configuration found"), .misconfigured), (429, "", .rateLimited),
    ])
    func whatTheServerSaysOfItCountsMore(status: Int, body: String, kind: Outcome.Kind) async throws {
        let error = try await end(.status(status, [:], body: body), of: AM.poll())
        #expect(error?.kind == kind)
    }

    /// How a journey ends with a step that is sent back as it came.
    private func end(_ last: ScriptedTransport.Step, of callbacks: String) async throws -> RecoveryError? {
        let bench = try ForgeRockBench([.step(callbacks)] + Array(repeating: last, count: 9))
        let begun = bench.forgeRock.journey(.service("Login"))
        return await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                var journey = begun
                guard case .step(let wait) = try await journey.begin() else { return }
                _ = try await journey.submit(wait)
            }
        }
    }

    @Test func theTextOfTheJourneysAuthorIsShown() async throws {
        let bench = try ForgeRockBench([
            .login, .step(AM.poll(), id: "a2"), .error(401, "You have rejected the request on your phone."),
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .declined && error?.userMessage == "You have rejected the request on your phone.")
    }

    /// Whoever says no at an identity provider has typed no wrong password here.
    @Test func aVisitThatIsRefusedIsNoWrongPassword() async throws {
        let redirect = callback(
            "RedirectCallback",
            #"{"name":"redirectUrl","value":"https://idp.example/?x=1"}"#,
            inputs: 0
        )
        let bench = try ForgeRockBench([.step(redirect), .error(401, "Login failure")])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn(nil, Person([.redirect: "https://app.example/cb?error=access_denied"]))
        }
        #expect(error?.kind == .declined && error?.userMessage.contains("other site") == true)
        #expect(bench.transport.received.count == 2)
    }

    /// Servers write it as a text or as a number.
    @Test(arguments: [#""42""#, "42"])
    func theNumberIsShownWhateverItsType(value: String) async throws {
        let hidden = callback(
            "HiddenValueCallback",
            #"{"name":"value","value":\#(value)},{"name":"id","value":"pushChallengeNumber"}"#
        )
        let bench = try ForgeRockBench([.step(AM.poll(), hidden), .success()])
        var flow = bench.forgeRock.signInFlow(identifier: "ada", password: nil, options: nil)
        guard case .pending(let challenge, _) = try await flow.step(.begin).step else {
            Issue.record("it does not wait")
            return
        }
        #expect(challenge.number == "42" && challenge.key == .push)
    }

    /// A page that asks for a proof while it waits has refused that one.
    @Test func aProofBesideAWaitIsRefusedAsOne() async throws {
        let error = try await end(.error(401, "Login failure"), of: AM.poll() + "," + AM.code)
        #expect(error?.kind == .invalidCredentials)
    }
}
