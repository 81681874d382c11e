import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// Device login at Facebook.
@Suite("auth-client --provider facebook: signing in", .timeLimit(.minutes(30)), .bounded)
struct FacebookSignInTests {
    @Test func theCodeIsShownAndTheLoginWaitedFor() async throws {
        try await Bench.facebook {
            $0.device = .init(polls: 2)
        } _: { bench in
            let run = try await bench.run("sign-in")
            #expect(run.status == 0)
            #expect(run.session == bench.sandbox.facebookID(of: Bench.ada))
            #expect(run.report["session"]?["expires_at"]?.string != nil)
            #expect(run.errors.contains("To sign in, open \(bench.sandbox.url)/device"))
            #expect(run.errors.contains("and enter the code  "))
            #expect(run.texts("wait", "reason") == Array(repeating: "challenge_pending", count: 3))
            #expect(run.named("failure").isEmpty)
            let poll = "POST device/login_status"
            #expect(bench.calls == ["POST device/login", poll, poll, poll, "GET me"])
            #expect(bench.sandbox.facebookCounters.earlyPolls == 0)
            let keys = ["access_token", "data_access_expiration_time", "expires_at", "facebook_permissions"]
            #expect(Set(try bench.tokenKeys) == Set(keys + ["facebook_profile"]))
            #expect(permissions(of: bench.tokenFile) == 0o600)
            #expect(try await bench.run("status").session == run.session)
        }
    }

    /// The app's own table of errors is fetched first by who wants it, and decides; where it cannot be, the library's does.
    @Test func theAppsTableOfErrorsDecides() async throws {
        try await Bench.facebook { bench in
            try bench.plantToken()
            func remedies(_ options: String...) async throws -> [String] {
                bench.sandbox.add(.facebook(50_001, path: "/v25.0/me"))
                let run = try await bench.finish(bench.start(["get", "/me"] + options))
                return run.report["failure"]?["remedies"]?.array?.compactMap(\.string) ?? []
            }
            let without = try await remedies()
            #expect(!without.contains("reauthenticate"))
            let before = bench.calls.count
            let with = try await remedies("--error-table")
            #expect(with.contains("reauthenticate"))
            let app = SandboxFacebookSettings().appID
            #expect(Array(bench.calls.dropFirst(before)) == ["GET \(app)", "GET me"])
            bench.sandbox.add(.facebook(100, path: "/v25.0/\(app)"))
            let run = try await bench.run("status", "--error-table")
            #expect(run.status == 0 && run.errors.contains("could not be fetched"), "\(run.errors)")
        }
    }

    @Test func somebodyEntersTheCode() async throws {
        try await Bench.facebook { bench in
            let program = try bench.start(["sign-in", "--scope", "public_profile,email"])
            try await bench.event("wait")
            try bench.sandbox.decideFacebookDevice(as: Bench.ada)
            let run = try await bench.finish(program)
            #expect(run.status == 0)
            let permissions = try await bench.run("get", "me/permissions")
            #expect(permissions.output.contains(#""permission":"email","status":"granted""#))
            #expect(try await bench.run("get", "/v19.0/me?fields=email").output.contains("ada@example.com"))
            #expect(bench.routes.last == "GET /v19.0/me")
        }
    }

    @Test func aNoIsTold() async throws {
        try await Bench.facebook {
            $0.device = .init(polls: 0, decision: "deny")
        } _: { bench in
            let run = try await bench.run("sign-in")
            #expect(run.status == 77)
            #expect(run.kind == "declined")
            // A sentence, and no number, is what the person reads first.
            #expect(run.report["failure"]?["message"]?.string == "You have declined the login.")
            #expect(names(in: bench.directory).contains("tokens.json") == false)
        }
    }

    @Test func whoeverIsSignedInStaysSoAfterANo() async throws {
        try await Bench.facebook {
            $0.device = .init(polls: 0, decision: "deny")
        } _: { bench in
            let token = try bench.plantToken()
            #expect(try await bench.run("sign-in").status == 77)
            #expect(try bench.tokens["access_token"]?.string == token)
        }
    }

    @Test func aCodeThatNobodyEntersIsReplacedOnce() async throws {
        try await Bench.facebook {
            $0.deviceLife = 3000
        } _: { bench in
            let run = try await bench.run("sign-in")
            #expect(run.status == 69)
            #expect(run.kind == "flow_expired")
            #expect(run.report["failure"]?["remedies"]?.array?.compactMap(\.string) == ["restart_flow"])
            #expect(run.errors.ranges(of: "and enter the code  ").count == 2)
            #expect(bench.sandbox.facebookCounters.devices == 2)
        }
    }

    /// The server says by its own word that the code has run out.
    @Test func aCodeThatTheServerCallsExpiredIsReplaced() async throws {
        try await Bench.facebook {
            $0.device = .init(polls: 0)
        } _: { bench in
            bench.sandbox.add(.facebook(463, 1_349_152, path: "/v25.0/device/login_status"))
            let run = try await bench.run("sign-in")
            #expect(run.status == 0)
            #expect(bench.sandbox.facebookCounters.devices == 2)
        }
    }

    @Test func whoIsToldToSlowDownDoes() async throws {
        try await Bench.facebook {
            $0.device = .init(polls: 0)
        } _: { bench in
            bench.sandbox.add(.facebook(17, 1_349_172, path: "/v25.0/device/login_status"))
            let run = try await bench.run("sign-in")
            #expect(run.status == 0)
            let waits = run.named("wait").compactMap { $0["seconds"]?.number?.double }
            #expect(waits == [1, 6])
            #expect(run.named("failure").isEmpty)
        }
    }

    @Test func anOutageBetweenTwoQuestionsEndsNothing() async throws {
        try await Bench.facebook {
            $0.device = .init(polls: 0)
        } _: { bench in
            bench.sandbox.add(SandboxFault(.html, path: "/v25.0/device/login_status"))
            let run = try await bench.run("sign-in")
            #expect(run.status == 0)
            #expect(bench.sandbox.facebookCounters.devices == 1)
        }
    }

    /// The lost answer held the token: nobody can obtain it with the same code any more.
    @Test func aTokenThatIsLostOnTheWayIsObtainedAgain() async throws {
        try await Bench.facebook {
            $0.device = .init(polls: 0)
        } _: { bench in
            bench.sandbox.add(SandboxFault(.resetAfter, path: "/v25.0/device/login_status"))
            let run = try await bench.run("sign-in")
            #expect(run.status == 0)
            #expect(bench.sandbox.facebookCounters.devices == 2)
            #expect(run.errors.ranges(of: "and enter the code  ").count == 2)
        }
    }

    @Test func anInterruptionIsSilent() async throws {
        try await Bench.facebook { bench in
            let program = try bench.start(["sign-in"])
            try await bench.event("wait")
            program.signal(SIGINT)
            let run = try await bench.finish(program)
            #expect(run.status == 130)
            #expect(run.outcome == "cancelled")
            #expect(!run.errors.contains("auth-client:"))
            #expect(run.named("failure").isEmpty)
        }
    }

    @Test func theDeadlineIsKept() async throws {
        try await Bench.facebook { bench in
            let run = try await bench.run("--deadline", "3", "sign-in")
            #expect(run.status == 69)
            #expect(run.kind == "timed_out")
        }
    }

    @Test func aLimitThatIsNotWaitedOutIsToldAsOne() async throws {
        try await Bench.facebook { bench in
            var fault = SandboxFault.facebook(4, path: "/v25.0/device/login_status", times: 0)
            fault.retryAfter = "60"
            bench.sandbox.add(fault)
            let run = try await bench.run("--max-wait", "5", "sign-in")
            #expect(run.status == 75)
            #expect(run.kind == "rate_limited")
            #expect(run.code == "4")
            #expect(run.retryAt != nil)
            #expect(bench.calls == ["POST device/login", "POST device/login_status"])
        }
    }

    @Test func aWrongClientTokenIsASetting() async throws {
        try await Bench.facebook { bench in
            var bench = bench
            bench.environment["FACEBOOK_CLIENT_TOKEN"] = "another"
            let run = try await bench.run("sign-in")
            #expect(run.status == 77)
            #expect(run.kind == "misconfigured")
            bench.environment["FACEBOOK_CLIENT_TOKEN"] = ""
            #expect(try await bench.run("sign-in").status == 65)
        }
    }
}
