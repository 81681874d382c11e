import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Locking
import Testing

let forgeRockApp = ["--client-id", "cli", "--redirect-uri", "com.example.cli:/callback"]

/// The promises, kept over real sockets against a server that fails; no test here counts on a short time.
@Suite("ForgeRock P1: nothing is spent twice", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockP1NothingIsSpentTwice {
    /// A way for an answer to get lost, and whether the server has done what it was asked.
    struct Loss: Sendable, CustomTestStringConvertible {
        var kind: SandboxFault.Kind
        var status: Int?
        var step: Int64
        var testDescription: String { "\(kind.name) \(status ?? 0), step \(step)" }

        static let all = [0, 1, 2].flatMap { step in
            [
                Loss(kind: .resetAfter, step: step), Loss(kind: .closeAfter, step: step),
                Loss(kind: .resetBefore, step: step), Loss(kind: .truncate, step: step),
                Loss(kind: .truncateReset, step: step), Loss(kind: .garbage, step: step),
                Loss(kind: .status, status: 500, step: step), Loss(kind: .html, status: 502, step: step),
                Loss(kind: .status, status: 503, step: step), Loss(kind: .empty, status: 504, step: step),
            ]
        }
    }

    /// Beginning, password, poll: whichever answer is lost, its step is posted once.
    @Test(arguments: Loss.all)
    func aStepWhoseAnswerIsLostIsNotPostedAgain(loss: Loss) async throws {
        try await AM.run { bench in
            var fault = AM.fault(loss.kind, AM.authenticate, status: loss.status, times: 0, skip: loss.step)
            fault.errorMessage = "out of order"
            bench.sandbox.add(fault)
            let run = try await bench.journey("Polling", answers: AM.password)
            #expect(run.status == 69, "\(run.kind ?? "")")
            #expect(bench.stepCount == Int(loss.step) + 1)
            #expect(bench.sandbox.forgeRockCounters.passwordAttempts <= 1)
            #expect(run.texts("retry", "reason").isEmpty)
            #expect(names(in: bench.directory).contains("tokens.json") == false)
        }
    }

    @Test(arguments: [("429", 429), ("503", 503)])
    func aStepThatTheServerHasRefusedForNowIsPostedAgain(name: String, status: Int) async throws {
        try await AM.run { bench in
            for skip in 0..<2 {
                var fault = AM.fault(.status, AM.authenticate, status: status, skip: Int64(skip))
                fault.retryAfter = "1"
                bench.sandbox.add(fault)
            }
            let run = try await bench.journey("Login", answers: AM.password)
            #expect(run.status == 0)
            #expect(bench.stepCount == 4)
            #expect(bench.sandbox.forgeRockCounters.passwordAttempts == 1)
            #expect(bench.sandbox.forgeRockCounters.journeys == 1)
        }
    }

    /// Nobody listens at first: what was never sent is sent as soon as somebody does.
    @Test func aStepThatWasNeverSentIsPostedLater() async throws {
        try await AM.run { bench in
            var nobody: RefusingPort? = try RefusingPort()
            let port = try #require(nobody?.port)
            try await Bench.withTransport { transport in
                let failures = Locked(0)
                let runtime = Runtime()
                runtime.events.observe { event in
                    if case .failure = event.kind { failures.withLock { $0 += 1 } }
                }
                let client = RecoveringClient(transport: transport, runtime: runtime) {
                    Deadline(.seconds(90))
                    Recovery(maxAttempts: 10)
                }
                let forgeRock = try bench.library(at: "http://127.0.0.1:\(port)", client: client)
                async let session = forgeRock.signIn(identifier: "ada", answering: Person())
                while failures.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
                nobody = nil
                let later = try await AuthSandbox.start(listen: "127.0.0.1:\(port)", scenario: .unlimited)
                defer { later.stop() }
                #expect(try await session.exists)
                #expect(later.requests(method: "POST", path: AM.authenticate).count == 2)
            }
        }
    }

    @Test(arguments: [SandboxFault.Kind.resetAfter, .closeAfter, .truncate])
    func aRotatingRefreshTokenIsNotPresentedAgain(kind: SandboxFault.Kind) async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += forgeRockApp
            try await bench.signInAtAM()
            let before = try bench.tokens
            var fault = SandboxFault(kind)
            fault.grant = "refresh_token"
            fault.times = 0
            bench.sandbox.add(fault)
            let run = try await bench.run("refresh")
            #expect(run.status != 0)
            #expect(bench.sandbox.requests(path: AM.tokens).filter { $0.grant == "refresh_token" }.count == 1)
            #expect(bench.sandbox.forgeRockTokenCounters.violations == 0)
            #expect(try bench.tokens["sso_token"]?.string == before["sso_token"]?.string)
        }
    }

    /// A code that may have been spent is not spent again, in the step-up either.
    @Test func aStepUpWhoseAnswerIsLostIsNotRepeated() async throws {
        try await AM.run { bench in
            try await bench.signInAtAM()
            let before = bench.stepCount
            bench.sandbox.add(AM.fault(.resetAfter, AM.authenticate, times: 0, skip: 1))
            let run = try await bench.run("get", "/ig/txn/header", answers: AM.password)
            #expect(run.status == 69)
            #expect(bench.stepCount == before + 2)
            #expect(bench.sandbox.requests(path: "/ig/txn").count == 1)
            #expect(try bench.tokens["sso_token"] != nil)
        }
    }
}

@Suite("ForgeRock P2: no attempt while locked", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockP2NoAttemptWhileLocked {
    private static func lock(_ settings: inout SandboxForgeRockSettings, for time: Int64?) {
        settings.lockout.threshold = 1
        settings.lockout.duration = time
        settings.lockout.statesTime = true
    }

    @Test func theNextProcessSendsNothing() async throws {
        try await AM.run {
            Self.lock(&$0, for: 300_000)
        } _: { bench in
            let state = ["--state", "sqlite:\(bench.directory)/state.db"]
            let arguments = state + ["sign-in", "--identifier", "ada"]
            let first = try await bench.finish(bench.start(arguments, answers: #"{"password": "correct-horse-7"}"#))
            #expect(first.status == 75)
            #expect(first.kind == "account_locked")
            #expect(first.retryAt != nil)
            let requests = bench.sandbox.requests().count
            let second = try await bench.finish(bench.start(arguments, answers: AM.password))
            #expect(second.status == 75)
            #expect(second.kind == "account_locked")
            #expect(second.named("attempt").isEmpty && second.named("challenge").isEmpty)
            #expect(bench.sandbox.requests().count == requests)
            let other = try await bench.finish(
                bench.start(state + ["sign-in", "--identifier", "edsger"], answers: AM.password)
            )
            #expect(other.status == 0)
        }
    }

    @Test func aShortLockIsWaitedOut() async throws {
        try await AM.run {
            Self.lock(&$0, for: 2000)
        } _: { bench in
            let state = ["--state", "sqlite:\(bench.directory)/state.db", "--max-wait", "1"]
            let arguments = state + ["sign-in", "--identifier", "ada"]
            let first = try await bench.finish(bench.start(arguments, answers: #"{"password": "correct-horse-7"}"#))
            #expect(first.kind == "account_locked")
            let patient = state + ["sign-in", "--identifier", "ada", "--max-wait", "30"]
            let second = try await bench.finish(bench.start(patient, answers: AM.password))
            #expect(second.status == 0, "\(second.errors)")
            #expect(bench.sandbox.forgeRockCounters.passwordAttempts == 2)
            let times = bench.sandbox.requests(path: AM.authenticate).map(\.receivedAt)
            #expect(times.count == 4 && times[2] - times[1] >= 1900)
        }
    }
}

@Suite("ForgeRock P3: the server's word is kept", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockP3TheServersWordIsKept {
    @Test func nobodyComesBackBeforeTheTime() async throws {
        try await AM.run { bench in
            var fault = AM.fault(.status, AM.sessions, status: 429)
            fault.retryAfter = "2"
            bench.sandbox.add(fault)
            try write(
                #"{"sso_token": "\#(try bench.sandbox.forgeRockSession(for: "ada"))"}"#,
                to: bench.tokenFile
            )
            try await Bench.withTransport { transport in
                let forgeRock = try bench.library(transport: transport)
                _ = try await forgeRock.session()
                let first = bench.sandbox.requests(path: AM.sessions)
                try #require(first.map(\.status) == [429, 200])
                #expect(first[1].receivedAt - first[0].receivedAt >= 2000)
                bench.sandbox.add(fault)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 { group.addTask { _ = try await forgeRock.session() } }
                    try await group.waitForAll()
                }
            }
            let all = bench.sandbox.requests(path: AM.sessions).dropFirst(2)
            let refused = try #require(all.first { $0.status == 429 })
            // Those that were on their way already were let through; the others kept away.
            let early = all.filter {
                $0.receivedAt > refused.receivedAt + 1000 && $0.receivedAt < refused.receivedAt + 2000
            }
            #expect(early.isEmpty)
            #expect(all.filter { $0.status == 200 }.count == 8)
        }
    }

    @Test func aPollComesWhenTheServerWantsIt() async throws {
        try await AM.run {
            $0.pollWait = 1500
        } _: { bench in
            let run = try await bench.journey("Polling", answers: AM.password)
            #expect(run.status == 0)
            #expect(bench.sandbox.forgeRockCounters.earlyPolls == 0)
        }
    }
}

@Suite("ForgeRock P4: the deadline is kept", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockP4TheDeadlineIsKept {
    @Test func aWaitPastItIsNotBegun() async throws {
        try await AM.run { bench in
            var fault = AM.fault(.status, AM.authenticate, status: 429)
            fault.retryAfter = "3600"
            bench.sandbox.add(fault)
            let arguments = ["--deadline", "600", "sign-in", "--identifier", "ada"]
            let run = try await bench.finish(bench.start(arguments, answers: AM.password))
            #expect(run.status == 75)
            #expect(run.texts("giving_up", "reason") == ["deadline_would_pass"])
            #expect(run.retryAt != nil && run.named("wait").isEmpty)
        }
    }

    @Test(arguments: [SandboxFault.Kind.hang, .trickle])
    func aServerThatDoesNotComeToAnEndIsLeft(kind: SandboxFault.Kind) async throws {
        try await AM.run { bench in
            var fault = AM.fault(kind, AM.authenticate, times: 0, skip: 1)
            fault.delay = kind == .trickle ? 1000 : 0
            bench.sandbox.add(fault)
            let arguments = ["--deadline", "6", "sign-in", "--identifier", "ada"]
            let run = try await bench.finish(bench.start(arguments, answers: AM.password))
            #expect(run.status == 69)
            #expect(run.kind == "timed_out")
            #expect(run.isOverBeforeAttemptsTimeOut)
            #expect(bench.stepCount <= 2)
        }
    }

    @Test func aPollingWithoutAnEndEndsWithIt() async throws {
        try await AM.run {
            $0.pollCount = 1_000_000
        } _: { bench in
            let arguments = ["--journey", "Polling", "--deadline", "3", "sign-in", "--identifier", "ada"]
            let run = try await bench.finish(bench.start(arguments, answers: AM.password))
            #expect(run.status == 69, "\(run.kind ?? "")")
            #expect(bench.stepCount < 10)
        }
    }
}

@Suite("ForgeRock P5: one refresh at a time", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockP5OneRefreshAtATime {
    @Test func fiftyRefusalsCauseOneRefresh() async throws {
        try await AM.run { bench in
            var program = bench
            program.options += forgeRockApp
            try await program.signInAtAM()
            try await Bench.withTransport { transport in
                let forgeRock = try bench.library(oauth: true, transport: transport)
                for round in 1...3 {
                    try bench.sandbox.revokeForgeRockTokens(accessOnly: true)
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for number in 0..<50 {
                            group.addTask { try await forgeRock.send(path: "/ig/api/items/\(number)").status.code }
                        }
                        for try await status in group { #expect(status == 200) }
                    }
                    #expect(bench.sandbox.forgeRockTokenCounters.refreshes == Int64(round))
                }
            }
            #expect(bench.sandbox.forgeRockTokenCounters.violations == 0)
            #expect(bench.sandbox.forgeRockTokenCounters.familiesRevoked == 0)
        }
    }
}
