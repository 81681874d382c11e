import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// Limits and lockouts: what is waited out, and what is not.
@Suite("auth-client waits", .timeLimit(.minutes(30)), .bounded)
struct WaitTests {
    private static let password = #"{"password": "open-sesame-42"}"#
    private static let ada = ["sign-in", "--identifier", "ada@example.com"]

    private static func limit(_ retryAfter: String, times: Int64 = 1) -> SandboxFault {
        var fault = SandboxFault(.status, path: "/v1/client/sign_ins", times: times)
        fault.status = 429
        fault.retryAfter = retryAfter
        return fault
    }

    private static func locked(_ email: String, milliseconds: Int64?, threshold: Int64 = 1) -> SandboxUser {
        var user = SandboxUser(email: email, password: "open-sesame-42")
        var lockout = SandboxSettings.Lockout()
        lockout.threshold = threshold
        lockout.duration = milliseconds
        user.lockout = lockout
        user.initialLock = milliseconds.map { .milliseconds($0) } ?? .indefinite
        return user
    }

    @Test func aRateLimitIsWaitedOutToTheEnd() async throws {
        try await Bench.run { bench in
            bench.sandbox.add(Self.limit("2"))
            let run = try await bench.signIn("ada@example.com", answers: Self.password)
            #expect(run.status == 0)
            let times = bench.sandbox.requests().map(\.receivedAt)
            try #require(times.count == 2)
            #expect(times[1] - times[0] >= 2000)
            let names = run.events.compactMap { $0["event"]?.string }
            #expect(names == ["attempt", "response", "failure", "wait", "retry", "attempt", "response", "done"])
            #expect(run.texts("wait", "reason") == ["rate_limited"])
            #expect(run.texts("failure", "processed") == ["no"])
            #expect(run.texts("failure", "scope") == ["endpoint"])
            let waited = try #require(run.named("done").first?["waited_s"]?.number?.double)
            // It lies between the two requests; the clock of the one is not that of the other.
            #expect(waited >= 2 && waited <= Double(times[1] - times[0]) / 1000 + 1)
        }
    }

    @Test func aDateInRetryAfterIsWaitedFor() async throws {
        try await Bench.run { bench in
            bench.sandbox.add(Self.limit("date:2"))
            let run = try await bench.signIn("ada@example.com", answers: Self.password)
            #expect(run.status == 0)
            let times = bench.sandbox.requests().map(\.receivedAt)
            try #require(times.count == 2)
            // A date has whole seconds: it names the second in which the two end.
            #expect(times[1] >= (times[0] / 1000 + 2) * 1000)
        }
    }

    @Test(arguments: [(["--max-wait", "1"], "wait_exceeds_limit"), (["--deadline", "600"], "deadline_would_pass")])
    func aRateLimitPastABoundIsNotWaitedOut(options: [String], reason: String) async throws {
        try await Bench.run { bench in
            bench.sandbox.add(Self.limit("900"))
            let run = try await bench.finish(bench.start(Self.ada + options, answers: Self.password))
            #expect(run.status == 75)
            #expect(run.kind == "rate_limited")
            #expect(run.retryAt != nil)
            #expect(run.texts("giving_up", "reason") == [reason])
            #expect(run.named("wait").isEmpty)
            #expect(bench.routes.count == 1)
        }
    }

    @Test func aRateLimitOfCenturiesIsNotWaitedOut() async throws {
        try await Bench.run { bench in
            bench.sandbox.add(Self.limit("huge"))
            let run = try await bench.signIn("ada@example.com", answers: Self.password)
            #expect(run.status == 75)
            #expect(run.kind == "quota_exhausted")
            #expect(run.named("wait").isEmpty)
            #expect(bench.routes.count == 1)
        }
    }

    @Test func theServersOwnLimitIsLivedWith() async throws {
        var scenario = SandboxScenario.unlimited
        scenario.settings.rateLimits.createSignIn = .init(count: 2, per: 2000)
        try await Bench.run(scenario) { bench in
            let answers = #"{"password": ["correct-horse-7", "correct-horse-8", "open-sesame-42"]}"#
            let run = try await bench.signIn("ada@example.com", answers: answers)
            #expect(run.status == 0)
            // Nothing more was refused than what taught the client its limit; a slow client never meets it.
            let statuses = bench.sandbox.requests().map(\.status)
            #expect(statuses == [422, 422, 429, 200] || statuses == [422, 422, 200])
            #expect(run.texts("wait", "reason") == (statuses.contains(429) ? ["rate_limited"] : []))
        }
    }

    @Test func aShortLockoutIsWaitedOut() async throws {
        try await Bench.run(Self.locked("eva@example.com", milliseconds: 10_000)) { bench in
            let run = try await bench.signIn("eva@example.com", answers: Self.password)
            #expect(run.status == 0)
            // The lock runs from the sandbox's start: a program that is slower than it finds none.
            let requests = bench.sandbox.requests()
            let isLocked = requests.first?.status != 200
            #expect(run.texts("wait", "reason") == (isLocked ? ["account_locked"] : []))
            try #require(requests.count == (isLocked ? 2 : 1))
            if isLocked { #expect(requests[1].receivedAt - requests[0].receivedAt >= 1000) }
        }
    }

    @Test(arguments: [["--max-wait", "1"], ["--deadline", "600"], []])
    func aLongLockoutIsNotWaitedOut(options: [String]) async throws {
        let begun = Timestamp.system()
        try await Bench.run(Self.locked("eva@example.com", milliseconds: 3_600_000)) { bench in
            let arguments = options + ["sign-in", "--identifier", "eva@example.com"]
            let run = try await bench.finish(bench.start(arguments, answers: Self.password))
            #expect(run.status == 75)
            #expect(run.kind == "account_locked")
            let text = try #require(run.retryAt)
            let retryAt = try #require(Timestamp(rfc3339: text))
            // The lock has begun with the sandbox, and its end was told before the program's; both in whole seconds.
            #expect(retryAt.elapsed(since: begun) >= .seconds(3598))
            #expect(retryAt.elapsed(since: .system()) <= .seconds(3602))
            #expect(run.named("wait").isEmpty)
            #expect(run.named("giving_up").first?["until"]?.string == text)
            #expect(bench.routes.count == 1)
        }
    }

    @Test func aLockoutWithoutEndIsNotWaitedOut() async throws {
        try await Bench.run { bench in
            let run = try await bench.signIn("ken@example.com", answers: Self.password)
            #expect(run.status == 75)
            #expect(run.kind == "account_locked")
            #expect(run.retryAt == nil)
            #expect(run.report["failure"]?["remedies"]?.array?.isEmpty == false)
            #expect(bench.routes.count == 1)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aWaitIsInterruptedAtOnce(signal: Int32) async throws {
        try await Bench.run { bench in
            bench.sandbox.add(Self.limit("3600"))
            // Longer than this test may take: its end is the interruption's.
            let program = try bench.start(Self.ada + ["--max-wait", "7200"], answers: Self.password)
            try await bench.event("wait")
            program.signal(signal)
            let run = try await bench.finish(program)
            #expect(run.status == 130)
            #expect(run.outcome == "cancelled")
            #expect(run.report["failure"]?.isNull == true)
            // Only what was waited counts.
            #expect(try #require(run.named("done").first?["waited_s"]?.number?.double) < 3600)
            #expect(bench.routes.count == 1)
        }
    }

    @Test func aHangIsInterruptedAtOnce() async throws {
        try await Bench.run { bench in
            bench.sandbox.add(SandboxFault(.hang, path: "/v1/client/sign_ins", times: 0))
            let program = try bench.start(Self.ada, answers: Self.password)
            try await bench.event("attempt")
            program.signal(SIGINT)
            let run = try await bench.finish(program)
            #expect(run.status == 130)
            #expect(run.outcome == "cancelled")
            // The attempt has not run into its own timeout first.
            #expect(run.named("failure").isEmpty)
        }
    }
}
