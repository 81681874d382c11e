import AuthRecovery
import AuthSandbox
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What is promised of recovery, against a server that behaves like Graph and fails on purpose, over real sockets.
///
/// Facebook locks no accounts, so the second promise has nothing to hold here.
@Suite("Facebook: promises", .timeLimit(.minutes(30)), .bounded)
enum FacebookPromises {}

extension FacebookPromises {
    /// Ways to lose an answer after the request has had its effect, or perhaps has.
    static let losses: [SandboxFault.Kind] = [.resetAfter, .closeAfter, .truncate, .truncateReset]

    @Suite struct P1NothingIsSpentTwice {
        @Test(arguments: FacebookPromises.losses) func aPostWhoseAnswerIsLost(kind: SandboxFault.Kind) async throws {
            try await FacebookLine.run { line in
                line.sandbox.add(SandboxFault(kind, path: "/v25.0/me/feed", times: 0))
                let error = await #expect(throws: RecoveryError.self) { try await line.post() }
                #expect(error?.outcome.processed != .no)
                #expect(line.count == 1)
                #expect(line.sandbox.facebookPosts(of: FacebookLine.ada) == ["hello"])
            }
        }

        @Test(arguments: [(1, 500), (1, 400), (2, 500), (2, 400), (2, 503), (2, 200)] as [(Int64, Int)])
        func aPostThatAnOutageMayHaveTaken(code: Int64, status: Int) async throws {
            try await FacebookLine.run { line in
                line.sandbox.add(.facebook(code, status: status, isTransient: true, path: "/v25.0/me/feed", times: 0))
                let error = await #expect(throws: RecoveryError.self) { try await line.post() }
                #expect(error?.kind == .unavailable)
                #expect(line.count == 1)
            }
        }

        /// A limit says that nothing was done.
        @Test func aPostThatWasRefusedIsSentAgain() async throws {
            try await FacebookLine.run(settings: .with { $0.limitStatesTime = true }) { line in
                try line.sandbox.blockFacebook(for: .seconds(1))
                try await line.post()
                #expect(line.sandbox.requests().map(\.status) == [403, 200])
                #expect(line.sandbox.facebookPosts(of: FacebookLine.ada) == ["hello"])
                #expect(line.sandbox.facebookCounters.duplicates == 0)
            }
        }

        @Test func onlyTheSafeItemsOfABatchAreSentAgain() async throws {
            try await FacebookLine.run { line in
                line.sandbox.leaveFacebookItems(2)
                let answers = try await line.facebook.batch([
                    FacebookBatchRequest(.post, path: "me/feed", form: ["message": "one"]),
                    FacebookBatchRequest(path: "me"), FacebookBatchRequest(path: "me/permissions"),
                ])
                #expect(answers.map(\.outcome.kind) == [.unavailable, .ok, .ok])
                #expect(answers.map(\.attempts) == [1, 2, 1])
                #expect(line.sandbox.facebookCounters.batches == 2)
            }
        }

        @Test(arguments: FacebookPromises.losses) func aBatchWhoseAnswerIsLost(kind: SandboxFault.Kind) async throws {
            try await FacebookLine.run { line in
                line.sandbox.add(SandboxFault(kind, method: "POST", path: "/v25.0", times: 0))
                await #expect(throws: RecoveryError.self) {
                    try await line.facebook.batch([
                        FacebookBatchRequest(.post, path: "me/feed", form: ["message": "one"])
                    ])
                }
                #expect(line.count == 1)
                #expect(line.sandbox.facebookPosts(of: FacebookLine.ada) == ["one"])
            }
        }

        /// No call goes on under another person's token.
        @Test func nothingIsSentAgainAsSomebodyElse() async throws {
            try await FacebookLine.run { line in
                #expect(try await line.facebook.currentUser()?.name == "Ada Example")
                try line.sandbox.setFacebookTokens(.expired, of: FacebookLine.ada)
                let grace = try line.sandbox.facebookToken(for: "grace@example.com")
                var slow = SandboxFault(.latency, path: "/v25.0/me/feed")
                slow.delay = 500
                line.sandbox.add(slow)
                let post = Task { try await line.post() }
                while !line.sandbox.requests().contains(where: { $0.method == "POST" }) {
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await line.tokens.update {
                    $0 = Credentials(accessToken: Secret(grace))
                }
                let error = await #expect(throws: RecoveryError.self) { try await post.value }
                #expect(error?.reason == .identityChanged)
                #expect(line.sandbox.facebookPosts(of: "grace@example.com").isEmpty)
                #expect(await line.held == Secret(grace))
            }
        }
    }

    @Suite struct P3TheServersWordIsKept {
        @Test func nothingLeavesWhileTheAppIsBlocked() async throws {
            try await FacebookLine.run(settings: .with { $0.limitStatesTime = true }) { line in
                try line.sandbox.blockFacebook(for: .seconds(2))
                let first = Task { try await line.facebook.send(path: "me") }
                try await line.event("wait rate_limited")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 { group.addTask { _ = try await line.facebook.send(path: "me/permissions") } }
                    try await group.waitForAll()
                }
                _ = try await first.value
                #expect(line.count == 12)
                #expect(line.sandbox.facebookCounters.limited == 1)
                #expect(line.sandbox.facebookCounters.earlyCalls == 0)
            }
        }

        /// A share that is reported on a success slows the next calls down.
        @Test func aLimitThatComesNearSlowsDown() async throws {
            let pacing = FacebookPacing.Configuration(longestPause: .seconds(2))
            try await FacebookLine.run(
                configuration: FacebookConfiguration(pacing: pacing),
                settings: .with { $0.appUsage = 95 }
            ) { line in
                for _ in 0..<3 { _ = try await line.facebook.send(path: "me") }
                let times = line.sandbox.requests().map(\.receivedAt)
                #expect(times.count == 3 && times[2] - times[1] >= 1400)
                #expect(line.events.words.contains { $0.hasPrefix("wait rate_limited") })
                #expect(!line.events.words.contains { $0.hasPrefix("failure") })
            }
        }

        /// Where all is used up on a success, the next call is not made at all.
        @Test func aLimitThatIsReachedStops() async throws {
            try await FacebookLine.run {
                Recovery(maxWait: .seconds(1))
            } body: { line in
                line.sandbox.updateSettings { $0.facebook.appUsage = 100 }
                _ = try await line.facebook.send(path: "me")
                for _ in 0..<3 {
                    let error = await #expect(throws: RecoveryError.self) { try await line.facebook.send(path: "me") }
                    #expect(error?.kind == .rateLimited)
                }
                #expect(line.count == 1)
            }
        }

        /// The polls of a device keep to what the server asks for.
        @Test func aDeviceAsksNoSoonerThanAllowed() async throws {
            try await FacebookLine.run(settings: .with { $0.device = .init(polls: 2) }) { line in
                _ = try await line.facebook.signIn(answering: Absent())
                #expect(line.sandbox.facebookCounters.earlyPolls == 0)
                let times = line.sandbox.requests(path: "/v25.0/device/login_status").map(\.receivedAt)
                #expect(times.count == 3)
                #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 990 })
            }
        }
    }

    @Suite struct P4TheDeadlineIsKept {
        @Test func aWaitThatCannotEndBeforeItIsNotBegun() async throws {
            try await FacebookLine.run {
                Deadline(.seconds(20))
                Recovery()
            } body: { line in
                try line.sandbox.blockFacebook(for: .seconds(90))
                let error = await #expect(throws: RecoveryError.self) { try await line.facebook.send(path: "me") }
                #expect(error?.reason == .deadlineWouldPass)
                #expect(error?.retryAfter.map { $0 >= .seconds(60) } == true)
                #expect(line.count == 1)
                #expect(!line.events.words.contains { $0.hasPrefix("wait") })
            }
        }

        @Test(arguments: [SandboxFault.Kind.hang, .trickle])
        func itEndsASlowAnswer(kind: SandboxFault.Kind) async throws {
            try await FacebookLine.run {
                Deadline(.seconds(5))
                Recovery()
            } body: { line in
                var fault = SandboxFault(kind, path: "/v25.0/me", times: 0)
                fault.delay = kind == .trickle ? 1000 : 0
                line.sandbox.add(fault)
                let error = await #expect(throws: RecoveryError.self) {
                    let response = try await line.facebook.send(path: "me")
                    _ = try await response.body.collect(upTo: 1 << 20)
                }
                #expect(error?.kind == .timedOut)
            }
        }
    }

    @Suite struct P5OneRefreshAtATime {
        @Test func fiftyExchangesAreOne() async throws {
            try await FacebookLine.run(hasSecret: true) { line in
                let before = await line.held
                var slow = SandboxFault(.latency, path: "/v25.0/oauth/access_token")
                slow.delay = 500
                line.sandbox.add(slow)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<50 { group.addTask { _ = try await line.facebook.refresh() } }
                    try await group.waitForAll()
                }
                #expect(line.sandbox.facebookCounters.exchanges == 1)
                #expect(await line.held != before)
            }
        }

        @Test func aFailureDoesNotStick() async throws {
            try await FacebookLine.run(hasSecret: true) {
                Recovery(maxAttempts: 1)
            } body: { line in
                line.sandbox.add(SandboxFault(.html, path: "/v25.0/oauth/access_token", times: 0))
                await #expect(throws: RecoveryError.self) { try await line.facebook.refresh() }
                line.sandbox.clearFaults()
                while line.sandbox.facebookCounters.exchanges == 0 {
                    _ = try? await line.facebook.refresh()
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(line.sandbox.facebookCounters.exchanges == 1)
            }
        }
    }
}
