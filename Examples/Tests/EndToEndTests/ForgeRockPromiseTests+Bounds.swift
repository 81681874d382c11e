import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import Glibc
import HTTPRecovery
import HTTPTypes
import Locking
import Testing

@Suite("ForgeRock P6: clear only what was refused", .timeLimit(.minutes(30)), .bounded)
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
            bench.options += forgeRockApp
            try await bench.signInAtAM()
            bench.options += ["--deadline", "3"]
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

@Suite("ForgeRock P7: bounded amplification", .timeLimit(.minutes(30)), .bounded)
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
                _ = try await forgeRock.session()
                let before = bench.sandbox.requests().count
                bench.sandbox.add(AM.fault(.status, "/json", status: 503, times: 0))
                let calls = 60
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<calls {
                        group.addTask {
                            await #expect(throws: RecoveryError.self) { try await forgeRock.session() }
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

@Suite("ForgeRock P8: cancellation is prompt", .timeLimit(.minutes(30)), .bounded)
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
            program.signal(signal)
            let run = try await bench.finish(program)
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

@Suite("ForgeRock P9: secrets stay secret", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockP9SecretsStaySecret {
    /// Failures, too, tell nothing: each of these ends otherwise, and the bench looks for what was planted.
    @Test(arguments: [
        #"{"kind": "status", "status": 500, "body": "{\"code\":500,\"message\":\"Authentication Error!!\"}"}"#,
        #"{"kind": "html"}"#, #"{"kind": "reset_after"}"#, #"{"kind": "truncate"}"#, #"{"kind": "envelope"}"#,
    ])
    func noOutputHoldsOne(fault: String) async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += forgeRockApp
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

@Suite("ForgeRock P10: hostile input is bounded", .timeLimit(.minutes(30)), .bounded)
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
