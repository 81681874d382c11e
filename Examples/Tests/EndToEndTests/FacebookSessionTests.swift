import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// What is done with a person's token.
@Suite("auth-client --provider facebook: sessions", .timeLimit(.minutes(30)), .bounded)
struct FacebookSessionTests {
    @Test func theStatusIsTheServersWord() async throws {
        try await Bench.facebook { bench in
            try bench.plantToken()
            let run = try await bench.run("status")
            #expect(run.status == 0)
            #expect(run.session == bench.sandbox.facebookID(of: Bench.ada))
            #expect(run.report["session"]?["status"]?.string == "active")
            #expect(bench.calls == ["GET me"])
        }
    }

    @Test func withoutATokenNothingIsAsked() async throws {
        try await Bench.facebook { bench in
            let bench = bench.withSecret
            for command in [["status"], ["refresh"], ["get", "me"]] {
                let run = try await bench.finish(bench.start(command))
                #expect(run.status == 77)
                #expect(run.kind == "reauthentication_required")
            }
            #expect(try await bench.run("sign-out").status == 0)
            #expect(bench.routes.isEmpty)
        }
    }

    @Test func signingOutForgetsTokenAndProfile() async throws {
        try await Bench.facebook { bench in
            let token = try bench.plantToken()
            let run = try await bench.run("sign-out", secrets: [token])
            #expect(run.status == 0)
            #expect(try bench.tokenKeys == ["note"])
            #expect(run.texts("clear", "credential") == ["access"])
            #expect(bench.routes.isEmpty)
        }
    }

    // MARK: Dead tokens

    @Test(arguments: [
        SandboxFacebookBehaviour.expired, .passwordChanged, .removed, .loggedOut,
    ])
    func aDeadTokenGoesWithTheProfile(behaviour: SandboxFacebookBehaviour) async throws {
        try await Bench.facebook { bench in
            let token = try bench.plantToken(behaviour)
            let run = try await bench.run("get", "me", secrets: [token])
            #expect(run.status == 77)
            #expect(run.kind == "reauthentication_required")
            #expect(run.report["failure"]?["remedies"]?.array?.compactMap(\.string) == ["reauthenticate"])
            #expect(run.texts("clear", "credential") == ["access"])
            #expect(try bench.tokenKeys == ["note"])
            #expect(bench.calls == ["GET me"])
            #expect(try await bench.run("status").status == 77)
            #expect(bench.calls.count == 1)
        }
    }

    @Test func whereOnlyTheAccessToDataHasExpiredThePersonStaysKnown() async throws {
        try await Bench.facebook { bench in
            let token = try bench.plantToken(.inactive)
            #expect(try await bench.run("status", secrets: [token]).status == 77)
            #expect(try bench.tokenKeys == ["facebook_profile", "note"])
        }
    }

    @Test(arguments: [false, true])
    func atACheckpointTheTokenIsKept(hidesSubcodes: Bool) async throws {
        try await Bench.facebook {
            $0.hidesSubcodes = hidesSubcodes
        } _: { bench in
            // Where the refusal does not tell, the debugger does.
            let bench = hidesSubcodes ? bench.withSecret : bench
            let token = try bench.plantToken(.checkpoint)
            let run = try await bench.run("status")
            #expect(run.status == 77)
            #expect(run.kind == "user_action_required")
            #expect(run.report["failure"]?["remedies"]?.array?.compactMap(\.string) == ["visit_provider"])
            #expect(run.errors.contains("Please go to https://www.facebook.com/."))
            // A bare number is for programs; the report has it.
            #expect(!run.errors.contains("190"))
            #expect(run.report["failure"]?["code"]?.string == "190")
            #expect(run.named("clear").isEmpty)
            #expect(try bench.tokens["access_token"]?.string == token)
            #expect(bench.sandbox.facebookCounters.inspections == (hidesSubcodes ? 1 : 0))
            try bench.sandbox.visitFacebook(as: Bench.ada)
            #expect(try await bench.run("get", "me").status == 0)
            #expect(try bench.tokens["access_token"]?.string == token)
        }
    }

    @Test func whatTheDebuggerCallsDeadIsCleared() async throws {
        try await Bench.facebook {
            $0.hidesSubcodes = true
        } _: { bench in
            let token = try bench.plantToken(.expired)
            let run = try await bench.withSecret.run("status", secrets: [token])
            #expect(run.status == 77)
            #expect(try bench.tokenKeys == ["note"])
            #expect(bench.sandbox.facebookCounters.inspections == 1)
        }
    }

    // MARK: Exchange and proof

    @Test func aTokenIsExchangedForALongLivedOne() async throws {
        try await Bench.facebook { bench in
            let token = try bench.plantToken()
            let run = try await bench.withSecret.run("refresh", secrets: [token])
            #expect(run.status == 0)
            #expect(run.session == bench.sandbox.facebookID(of: Bench.ada))
            #expect(run.texts("refresh", "outcome") == ["refreshed"])
            #expect(run.report["session"]?["expires_at"]?.string != nil)
            #expect(try bench.tokens["access_token"]?.string != token)
            #expect(Set(try bench.tokenKeys) == ["access_token", "expires_at", "facebook_profile", "note"])
            #expect(bench.sandbox.facebookCounters.exchanges == 1)
            #expect(try await bench.run("status").status == 0)
        }
    }

    @Test func aDeadTokenCannotBeExchanged() async throws {
        try await Bench.facebook { bench in
            let token = try bench.plantToken(.expired)
            let run = try await bench.withSecret.run("refresh", secrets: [token])
            #expect(run.status == 77)
            #expect(run.kind == "reauthentication_required")
            #expect(run.texts("refresh", "outcome") == ["rejected"])
            #expect(try bench.tokenKeys == ["note"])
        }
    }

    @Test func anOutageOfTheExchangeKeepsTheToken() async throws {
        try await Bench.facebook { bench in
            let token = try bench.plantToken()
            bench.sandbox.add(SandboxFault(.html, path: "/v25.0/oauth/", times: 0))
            let run = try await bench.withSecret.run("refresh")
            #expect(run.status == 69)
            #expect(try bench.tokens["access_token"]?.string == token)
            #expect(run.named("clear").isEmpty)
        }
    }

    @Test func theSecretIsProvedWithEachCall() async throws {
        try await Bench.facebook {
            $0.requiresProof = true
        } _: { bench in
            let token = try bench.plantToken()
            #expect(try await bench.withSecret.run("get", "me").status == 0)
            #expect(bench.sandbox.requests().last?.fields.contains("appsecret_proof=***") == true)
            var wrong = bench
            wrong.options += ["--app-secret-env", "FACEBOOK_WRONG_SECRET"]
            for bench in [bench, wrong] {
                let run = try await bench.run("get", "me", secrets: ["another-secret"])
                #expect(run.status == 77)
                #expect(run.kind == "misconfigured")
                #expect(run.report["failure"]?["param"]?.string == "appsecret_proof")
                #expect(try bench.tokens["access_token"]?.string == token)
            }
            #expect(bench.sandbox.facebookCounters.refusedProofs == 2)
        }
    }

    // MARK: Limits and outages

    @Test func aShortLimitIsWaitedFor() async throws {
        try await Bench.facebook {
            $0.limitStatesTime = true
        } _: { bench in
            try bench.plantToken()
            try bench.sandbox.blockFacebook(for: .seconds(10))
            let run = try await bench.run("get", "me")
            #expect(run.status == 0)
            // A program that is slower than the limit lasts does not meet it.
            let isLimited = bench.sandbox.facebookCounters.limited == 1
            #expect(run.texts("wait", "reason") == (isLimited ? ["rate_limited"] : []))
            #expect(bench.sandbox.facebookCounters.earlyCalls == 0)
        }
    }

    @Test func aLimitThatIsNotWaitedOutIsTold() async throws {
        try await Bench.facebook { bench in
            try bench.plantToken()
            try bench.sandbox.blockFacebook(for: .seconds(90))
            let run = try await bench.run("--max-wait", "5", "get", "me")
            #expect(run.status == 75)
            #expect(run.kind == "rate_limited")
            #expect(run.code == "4")
            #expect(run.retryAt != nil)
            #expect(bench.calls == ["GET me"])
            #expect(try bench.tokens["access_token"]?.string != nil)
        }
    }

    /// Another process keeps to the time that the header has told.
    @Test func aBusinessLimitIsRememberedOnDisk() async throws {
        var user = SandboxUser(email: Bench.ada, password: "open-sesame-42")
        user.facebook.permissions = ["public_profile", "ads_read"]
        try await Bench.facebook(users: [user]) { bench in
            try bench.plantToken()
            try bench.sandbox.blockFacebook(80_004, for: .seconds(120))
            let state = ["--state", "sqlite:" + bench.directory + "/state.db", "--max-wait", "5"]
            for _ in 0..<2 {
                let run = try await bench.finish(bench.start(state + ["get", "act_1/insights"]))
                #expect(run.status == 75)
                #expect(run.kind == "rate_limited" || run.kind == "quota_exhausted")
                #expect(run.retryAt != nil)
            }
            #expect(bench.calls == ["GET act_1/insights"])
            // Only what the limit is about is held.
            #expect(try await bench.finish(bench.start(state + ["get", "me"])).status == 0)
        }
    }

    @Test(arguments: [
        #"{"kind": "envelope", "code": "2"}"#, #"{"kind": "envelope", "code": "2", "status": 400}"#,
        #"{"kind": "envelope", "code": "2", "status": 503}"#, #"{"kind": "envelope", "code": "1"}"#,
        #"{"kind": "html"}"#,
        #"{"kind": "empty"}"#, #"{"kind": "envelope", "envelope": "fb-unavailable"}"#,
        #"{"kind": "envelope", "code": "2", "status": 200}"#,
        #"{"kind": "envelope", "envelope": "fb-string", "code": "2"}"#,
        #"{"kind": "envelope", "envelope": "fb-jsonp", "code": "2"}"#, #"{"kind": "reset_before"}"#,
    ])
    func whatPassesIsRepeated(json: String) async throws {
        try await Bench.facebook { bench in
            try bench.plantToken()
            bench.sandbox.add(try SandboxFault(json: json))
            let run = try await bench.run("get", "me")
            #expect(run.status == 0)
            #expect(run.output.contains("Ada Example"))
            #expect(bench.calls == ["GET me", "GET me"])
        }
    }

    @Test(arguments: [
        ("1", #", "meta": {"is_transient": false, "error_user_msg": "Not this one."}"#, "unknown", 22),
        ("368", "", "policy_blocked", 77), ("10", "", "permission_denied", 77), ("200", "", "permission_denied", 77),
        ("100/33", "", "not_found", 22), ("803", "", "not_found", 22), ("100", "", "invalid_request", 22),
        ("506", "", "conflict", 22), ("2635", "", "misconfigured", 77), ("9999999", "", "unknown", 22),
    ])
    func whatDoesNotPassIsTold(code: String, more: String, kind: String, status: Int32) async throws {
        try await Bench.facebook { bench in
            let token = try bench.plantToken()
            bench.sandbox.add(try SandboxFault(json: #"{"kind": "envelope", "code": "\#(code)", "times": 0\#(more)}"#))
            let run = try await bench.run("get", "me")
            #expect(run.status == status)
            #expect(run.kind == kind)
            // A sentence for a person, without the server's own for developers.
            let message = run.report["failure"]?["message"]?.string ?? ""
            #expect(!message.isEmpty && !message.contains("(#"))
            #expect(bench.calls == ["GET me"])
            #expect(try bench.tokens["access_token"]?.string == token)
        }
    }
}

/// Plain requests that recover by Facebook's words.
@Suite("http-recover --provider facebook", .timeLimit(.minutes(30)), .bounded)
struct FacebookRecoverTests {
    private static func run(
        _ method: String,
        _ path: String,
        _ options: String...,
        fault: SandboxFault
    ) async throws -> (end: BuiltProgram.End, sandbox: AuthSandbox) {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let token = try sandbox.facebookToken(for: Bench.ada)
        sandbox.add(fault)
        let arguments = ["--provider", "facebook", "--events", "-", "-H", "Authorization: Bearer \(token)"] + options
        let end = try await BuiltProgram.run("http-recover", arguments + ["-X", method, sandbox.url + path])
        #expect(!end.errors.contains(token))
        let done = end.errors.split(separator: "\n").filter { $0.contains(#""event":"done""#) }
        #expect(done.count == 1)
        return (end, sandbox)
    }

    @Test func anErrorInASuccessIsRepeatedForAGet() async throws {
        let fault = SandboxFault.facebook(2, status: 200)
        let (end, sandbox) = try await Self.run("GET", "/v25.0/me", fault: fault)
        #expect(end.status == 0)
        #expect(end.output.contains("Ada Example"))
        #expect(sandbox.requests().count == 2)
    }

    @Test(arguments: [1, 2] as [Int64]) func aWriteThatMayHaveBeenDoneIsNotRepeated(code: Int64) async throws {
        let (end, sandbox) = try await Self.run("POST", "/v25.0/me/feed?message=x", fault: .facebook(code, times: 0))
        #expect(end.status == 22)
        #expect(sandbox.requests().count == 1)
    }

    @Test func aWriteThatALimitHasRefusedIsRepeated() async throws {
        var fault = SandboxFault.facebook(4)
        fault.retryAfter = "1"
        let (end, sandbox) = try await Self.run("POST", "/v25.0/me/feed?message=x", fault: fault)
        #expect(end.status == 0)
        #expect(sandbox.requests().map(\.status) == [403, 200])
        #expect(sandbox.facebookPosts(of: Bench.ada) == ["x"])
    }

    @Test func minutesUntilAccessIsRegainedAreTold() async throws {
        let fault = SandboxFault.facebook(80_004, times: 0)
        let (end, sandbox) = try await Self.run("GET", "/v25.0/act_1/insights", "--max-wait", "5", fault: fault)
        #expect(end.status == 22)
        let lines = try end.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
            .map { try JSONValue(parsing: String($0)) }
        let failure = lines.first { $0["event"]?.string == "failure" }
        #expect(failure?["retry_after_s"]?.number?.saturatedInt == 300)
        #expect(failure?["scope"]?.string == "endpoint")
        #expect(sandbox.requests().count == 1)
    }
}
