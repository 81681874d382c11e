import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The steps of a sign-in, so that each in turn can go wrong.
let loginSteps: [ScriptedTransport.Step] = [
    .login, .step(AM.poll(), id: "a2"), .step(AM.code, id: "a3"), .success(),
]

@Suite struct P1NothingIsSpentTwice {
    private func signIn(_ bench: ForgeRockBench) async throws -> ForgeRockSession {
        try await bench.signIn("hunter2", Person([.totp: "424242"]))
    }

    @Test(arguments: 0..<4)
    func aStepWhoseAnswerWasLostIsNotRepeatedAndSaysSo(lost: Int) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.connectionLost, .unknown), .fail(.timedOut, .unknown),
            .fail(.truncated, .answered), .status(500), .status(502, [:], body: "<html>"), .status(503), .status(504),
        ] {
            var script = loginSteps
            script[lost] = failure
            let bench = try ForgeRockBench(script)
            let error = await #expect(throws: RecoveryError.self) { try await signIn(bench) }
            #expect(error?.reason == .processedUnknown)
            #expect(bench.transport.received.count == lost + 1)
            #expect(error?.outcome.processed != .no)
        }
    }

    @Test(arguments: 0..<4)
    func aStepThatTheServerHasNotSeenIsRepeated(lost: Int) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .fail(.cannotResolve, .neverSent),
            .fail(.streamRefused, .notProcessed), .status(503, ["retry-after": "1"]), .status(429),
        ] {
            var script = loginSteps
            script.insert(failure, at: lost)
            let bench = try ForgeRockBench(script)
            #expect(try await signIn(bench).exists)
            #expect(bench.transport.received.count == 5)
            #expect(bench.sent[lost] == bench.sent[lost + 1])
        }
    }

    @Test func aRefreshTokenWhoseAnswerWasLostIsNotPresentedAgain() async throws {
        let bench = try ForgeRockBench(
            [.fail(.connectionLost, .unknown)],
            credentials: Credentials(refreshToken: "R0", ssoToken: "S1"),
            oauth: ForgeRockBench.oauth
        )
        await #expect(throws: RecoveryError.self) { try await bench.forgeRock.refresh() }
        #expect(bench.transport.received.count == 1)
    }
}

@Suite struct P2NoAttemptWhileLocked {
    @Test func aSignInToAnAccountThatIsKnownToBeLockedSendsNothingAndAsksNothing() async throws {
        let text = "Your account has been locked. Try again in 10 minutes."
        let bench = try ForgeRockBench([.login, .error(401, text)])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        bench.clock.advance(by: .seconds(200))
        let person = Person([.password: "p"])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.forgeRock.signIn(identifier: " ADA", password: nil, answering: person)
        }
        #expect(error?.kind == .accountLocked && error?.retryAfter == .seconds(400))
        #expect(error?.userMessage == text)
        #expect(person.keys.isEmpty && bench.transport.received.count == 2)
        bench.transport.append([.login, .success()])
        _ = try await bench.forgeRock.signIn(identifier: "grace", password: "p", answering: Person())
        bench.clock.advance(by: .seconds(400))
        bench.transport.append([.login, .success()])
        _ = try await bench.signIn()
    }

    @Test func alsoWhereTheNameWasTyped() async throws {
        let bench = try ForgeRockBench([.login, .error(401, "User Locked Out.")])
        await #expect(throws: RecoveryError.self) {
            try await bench.forgeRock.signIn(identifier: nil, answering: Person([.text: "Ada", .password: "p"]))
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .accountLocked)
        #expect(bench.transport.received.count == 2)
    }
}

@Suite struct P3TheServersWordIsKept {
    @Test func aThrottledJourneyGoesOnWhenItMay() async throws {
        let bench = try ForgeRockBench([.login, .status(429, ["retry-after": "30"]), .success()])
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.clock.requestedDelays.allSatisfy { $0 >= .seconds(30) })
        #expect(person.waits.count == 1)
    }
}

@Suite struct P4TheDeadlineIsKept {
    @Test func aWaitThatWouldPassItIsNotBegun() async throws {
        let bench = try ForgeRockBench([.login, .status(429, ["retry-after": "30"]), .success()]) {
            Deadline(.seconds(10))
            Recovery()
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.reason == .deadlineWouldPass && error?.retryAfter == .seconds(30))
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    @Test(arguments: [
        (SignInOptions(deadline: .seconds(5)), History.StopReason.deadlineWouldPass),
        (SignInOptions(maxWait: .seconds(5)), .waitExceedsLimit),
    ])
    func norIsAPollThatTheSignInHasNoTimeFor(options: SignInOptions, reason: History.StopReason) async throws {
        let bench = try ForgeRockBench([.login, .step(AM.poll("8000"), id: "a2"), .success()])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.forgeRock.signIn(
                identifier: "ada",
                password: "hunter2",
                answering: Person(),
                options: options
            )
        }
        #expect(error?.kind == .timedOut && error?.reason == reason)
        #expect(error?.retryAfter == .seconds(8) && error?.retryAt != nil)
        #expect(bench.clock.requestedDelays.isEmpty && bench.transport.received.count == 2)
    }
}

@Suite struct P5OneRefreshAtATime {
    @Test(.timeLimit(.minutes(30)))
    func manyRefusalsCauseOneRenewal() async throws {
        let bench = try ForgeRockBench(
            credentials: Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1"),
            oauth: ForgeRockBench.oauth
        )
        bench.transport.append(
            Array(
                repeating: .run { received in
                    if received.request.path?.hasSuffix("access_token") == true {
                        return .scripted(200, body: #"{"access_token":"A1","refresh_token":"R1"}"#)
                    }
                    let isNew = received.request.headerFields[.authorization] == "Bearer A1"
                    return isNew ? .scripted(200, body: "{}") : .scripted(401, body: #"{"error":"invalid_token"}"#)
                },
                count: 200
            )
        )
        let forgeRock = bench.forgeRock
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask { _ = try await forgeRock.send(path: "/json/users/ada") }
            }
            try await group.waitForAll()
        }
        let renewals = bench.transport.received.filter { $0.request.path?.hasSuffix("access_token") == true }
        #expect(renewals.count == 1)
        #expect(try await bench.credentials.refreshToken == "R1")
    }
}
