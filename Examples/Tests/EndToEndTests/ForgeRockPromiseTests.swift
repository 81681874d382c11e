import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import Glibc
import HTTPRecovery
import HTTPTypes
import Locking
import Testing

private let client = ["--client-id", "cli", "--redirect-uri", "com.example.cli:/callback"]

/// The promises, kept over real sockets against a server that fails; no test here counts on a short time.
@Suite("ForgeRock P1: nothing is spent twice", .timeLimit(.minutes(15)), .bounded)
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
            let port = bench.sandbox.port
            bench.sandbox.stop()
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
                let forgeRock = try bench.library(client: client)
                async let session = forgeRock.signIn(identifier: "ada", answering: Person())
                while failures.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
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
            bench.options += client
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

@Suite("ForgeRock P2: no attempt while locked", .timeLimit(.minutes(15)), .bounded)
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

@Suite("ForgeRock P3: the server's word is kept", .timeLimit(.minutes(15)), .bounded)
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
                _ = try await forgeRock.currentSession()
                let first = bench.sandbox.requests(path: AM.sessions)
                try #require(first.map(\.status) == [429, 200])
                #expect(first[1].receivedAt - first[0].receivedAt >= 2000)
                bench.sandbox.add(fault)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 { group.addTask { _ = try await forgeRock.currentSession() } }
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

@Suite("ForgeRock P4: the deadline is kept", .timeLimit(.minutes(15)), .bounded)
struct ForgeRockP4TheDeadlineIsKept {
    @Test func aWaitPastItIsNotBegun() async throws {
        try await AM.run { bench in
            var fault = AM.fault(.status, AM.authenticate, status: 429)
            fault.retryAfter = "60"
            bench.sandbox.add(fault)
            let arguments = ["--deadline", "5", "sign-in", "--identifier", "ada"]
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
            let clock = ContinuousClock()
            let start = clock.now
            let arguments = ["--deadline", "2", "sign-in", "--identifier", "ada"]
            let run = try await bench.finish(bench.start(arguments, answers: AM.password))
            #expect(run.status == 69)
            #expect(run.kind == "timed_out")
            #expect(clock.now - start < .seconds(30))
            #expect(bench.stepCount == 2)
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

@Suite("ForgeRock P5: one refresh at a time", .timeLimit(.minutes(15)), .bounded)
struct ForgeRockP5OneRefreshAtATime {
    @Test func fiftyRefusalsCauseOneRefresh() async throws {
        try await AM.run { bench in
            var program = bench
            program.options += client
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

@Suite("ForgeRock P6: clear only what was refused", .timeLimit(.minutes(15)), .bounded)
struct ForgeRockP6ClearOnlyWhatWasRefused {
    @Test(arguments: [
        #"{"kind": "status", "status": 503}"#, #"{"kind": "status", "status": 500}"#, #"{"kind": "html"}"#,
        #"{"kind": "html", "status": 200}"#, #"{"kind": "html", "status": 401}"#, #"{"kind": "empty"}"#,
        #"{"kind": "status", "status": 429, "retry_after": 600}"#, #"{"kind": "status", "status": 408}"#,
        #"{"kind": "hang"}"#, #"{"kind": "reset_before"}"#, #"{"kind": "truncate"}"#, #"{"kind": "garbage"}"#,
        #"{"kind": "status", "status": 403}"#,
    ])
    func anOutageLeavesTheFileAlone(fault: String) async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += client + ["--deadline", "3"]
            try await bench.signInAtAM()
            let before = contents(of: bench.tokenFile)
            var fault = try SandboxFault(json: fault)
            fault.times = 0
            bench.sandbox.add(fault)
            // The body of an answer to a revocation does not count (RFC 7009 section 2.2), so a success there is one.
            let isSuccess = fault.status == 200 || fault.kind == .truncate
            for command in ["status", "refresh"] + (isSuccess ? [] : ["sign-out"]) {
                let run = try await bench.run(command)
                #expect(run.status != 0)
                #expect(run.named("clear").isEmpty)
            }
            let after = try bench.tokens
            for key in ["sso_token", "access_token", "refresh_token"] {
                #expect(after[key]?.string == (try JSONValue(parsing: before))[key]?.string, "\(key)")
            }
        }
    }

    /// A late no for an old session does not touch the new one.
    @Test func aLateRefusalLeavesTheNewSession() async throws {
        try await AM.run { bench in
            let old = try bench.sandbox.forgeRockSession(for: "ada")
            bench.sandbox.endForgeRockSessions()
            try write(#"{"sso_token": "\#(old)"}"#, to: bench.tokenFile)
            var late = AM.fault(.latency, AM.sessions)
            late.delay = 1500
            bench.sandbox.add(late)
            let program = try bench.start(["status"])
            try await bench.event("attempt")
            let fresh = try bench.sandbox.forgeRockSession(for: "ada")
            while bench.sandbox.requests(path: AM.sessions).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            try write(#"{"sso_token": "\#(fresh)"}"#, to: bench.tokenFile)
            let run = try await bench.finish(program, secrets: [old, fresh])
            #expect(run.status == 77)
            #expect(try bench.tokens["sso_token"]?.string == fresh)
        }
    }
}

@Suite("ForgeRock P7: bounded amplification", .timeLimit(.minutes(15)), .bounded)
struct ForgeRockP7BoundedAmplification {
    @Test func anOutageIsNotMultiplied() async throws {
        try await AM.run { bench in
            try write(
                #"{"sso_token": "\#(try bench.sandbox.forgeRockSession(for: "ada"))"}"#,
                to: bench.tokenFile
            )
            try await Bench.withTransport { transport in
                let forgeRock = try bench.library(transport: transport)
                // The cookie's name is asked for before the outage.
                _ = try await forgeRock.currentSession()
                let before = bench.sandbox.requests().count
                bench.sandbox.add(AM.fault(.status, "/json", status: 503, times: 0))
                let calls = 60
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<calls {
                        group.addTask {
                            await #expect(throws: RecoveryError.self) { try await forgeRock.currentSession() }
                        }
                    }
                    try await group.waitForAll()
                }
                let attempts = bench.sandbox.requests().count - before
                #expect(attempts >= calls)
                #expect(Double(attempts) <= Double(calls) * 1.2 + 10)
            }
        }
    }
}

@Suite("ForgeRock P8: cancellation is prompt", .timeLimit(.minutes(15)), .bounded)
struct ForgeRockP8CancellationIsPrompt {
    @Test(arguments: [SIGINT, SIGTERM])
    func aPollingWaitIsInterrupted(signal: Int32) async throws {
        try await AM.run {
            $0.pollWait = 60_000
        } _: { bench in
            let program = try bench.start(
                ["--journey", "Polling", "sign-in", "--identifier", "ada"],
                answers: AM.password
            )
            try await bench.event("wait")
            let clock = ContinuousClock()
            let start = clock.now
            program.signal(signal)
            let run = try await bench.finish(program)
            #expect(clock.now - start < .seconds(30))
            #expect(run.status == 130)
            #expect(run.outcome == "cancelled")
            #expect(run.report["failure"]?.isNull == true)
        }
    }

    @Test func aHangIsLeftAndIsNoFailure() async throws {
        try await AM.run { bench in
            bench.sandbox.add(AM.fault(.hang, AM.authenticate, times: 0, skip: 1))
            try await Bench.withTransport { transport in
                let forgeRock = try bench.library(deadline: .seconds(300), transport: transport)
                let task = Task { try await forgeRock.signIn(identifier: "ada", answering: Person()) }
                while bench.stepCount < 2 { try await Task.sleep(for: .milliseconds(5)) }
                task.cancel()
                let result = await task.result
                #expect(throws: CancellationError.self) { try result.get() }
            }
        }
    }
}

@Suite("ForgeRock P9: secrets stay secret", .timeLimit(.minutes(15)), .bounded)
struct ForgeRockP9SecretsStaySecret {
    /// Failures, too, tell nothing: each of these ends otherwise, and the bench looks for what was planted.
    @Test(arguments: [
        #"{"kind": "status", "status": 500, "body": "{\"code\":500,\"message\":\"Authentication Error!!\"}"}"#,
        #"{"kind": "html"}"#, #"{"kind": "reset_after"}"#, #"{"kind": "truncate"}"#, #"{"kind": "envelope"}"#,
    ])
    func noOutputHoldsOne(fault: String) async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += client
            try await bench.signInAtAM()
            let held = ["sso_token", "access_token", "refresh_token"].compactMap { try? bench.tokens[$0]?.string }
            #expect(held.count == 3)
            var fault = try SandboxFault(json: fault)
            fault.times = 0
            bench.sandbox.add(fault)
            for command in ["status", "refresh", "sign-out"] { _ = try await bench.run(command, secrets: held) }
            _ = try await bench.run("get", "/ig/txn", answers: AM.password, secrets: held)
            _ = try await bench.journey("Login", answers: AM.password)
            // Another process may look at what has arrived; that is masked too.
            let requests = bench.sandbox.requests().flatMap { $0.headers + $0.fields }.joined(separator: "\n")
            for secret in held + ["open-sesame-42"] { #expect(!requests.contains(secret)) }
        }
    }

    @Test func theSessionIsNotSentElsewhere() async throws {
        try await AM.run { bench in
            let other = try await AuthSandbox.start(scenario: .unlimited)
            defer { other.stop() }
            try await bench.signInAtAM()
            var fault = AM.fault(.status, "/ig/app", status: 307)
            fault.status = 307
            fault.headers = ["Location": other.url + "/ig/app"]
            bench.sandbox.add(fault)
            _ = try await bench.run("get", "/ig/app")
            let arrived = other.requests().flatMap(\.headers).map { $0.lowercased() }
            #expect(!arrived.contains { $0.hasPrefix("cookie:") || $0.hasPrefix("iplanetdirectorypro:") })
        }
    }
}

@Suite("ForgeRock P10: hostile input is bounded", .timeLimit(.minutes(15)), .bounded)
struct ForgeRockP10HostileInputIsBounded {
    private static let deep = String(repeating: "[", count: 100_000)
    private static let long = #"{"callbacks":["# + String(repeating: #"{"type":"X"},"#, count: 50_000) + "{}]}"

    @Test(arguments: [
        "[]", "null", "{}", "nonsense", deep, long, #"{"authId":null,"callbacks":null}"#,
        #"{"authId":"x","callbacks":[{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"1e400"}]}]}"#,
        #"{"tokenId":12}"#, #"{"code":"\#(String(repeating: "9", count: 400))","message":"x"}"#,
    ])
    func anyAnswerToAStepEndsInAnError(body: String) async throws {
        try await AM.run { bench in
            var fault = AM.fault(.status, AM.authenticate, status: 200, times: 0, skip: 1)
            fault.body = body
            bench.sandbox.add(fault)
            let arguments = ["--deadline", "5", "sign-in", "--identifier", "ada"]
            let run = try await bench.finish(bench.start(arguments, answers: AM.password))
            #expect([65, 69, 75, 77].contains(run.status))
            #expect(run.outcome == "failed")
            #expect(names(in: bench.directory).contains("tokens.json") == false)
        }
    }

    @Test(arguments: ["nan", "huge", "-5", "1e400", "date:-9999"])
    func anyRetryAfterIsTaken(text: String) async throws {
        try await AM.run { bench in
            var fault = AM.fault(.status, AM.sessions, status: 503, times: 0)
            fault.retryAfter = text
            bench.sandbox.add(fault)
            try write(#"{"sso_token": "AQIC5planted"}"#, to: bench.tokenFile)
            let run = try await bench.run("status", "--max-wait", "2", "--deadline", "20", secrets: ["AQIC5planted"])
            #expect([69, 75].contains(run.status))
            #expect(try bench.tokens["sso_token"]?.string == "AQIC5planted")
            #expect(bench.sandbox.requests(path: AM.sessions).count < 10)
        }
    }
}
