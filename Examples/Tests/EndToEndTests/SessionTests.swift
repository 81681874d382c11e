import AuthSandbox
import HTTPRecovery
import Testing

/// What is done with a session, and what becomes of the token file.
@Suite("auth-client sessions", .timeLimit(.minutes(30)), .bounded)
struct SessionTests {
    @Test func theStatusIsTheServersWord() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let run = try await bench.run("status")
            #expect(run.status == 0)
            let stored = try bench.tokens["session_id"]?.string
            #expect(run.session == stored)
            #expect(run.report["session"]?["status"]?.string == "active")
        }
    }

    @Test func withoutASessionNothingIsAsked() async throws {
        try await Bench.run { bench in
            let run = try await bench.run("status")
            #expect(run.status == 77)
            #expect(run.kind == "reauthentication_required")
            #expect(bench.routes.isEmpty)
        }
    }

    @Test func theBodyOfGetIsPrintedAsItIs() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let end = try await BuiltProgram(
                "auth-client",
                [
                    "get", "/v1/me", "--provider", "clerk", "--base-url", bench.sandbox.url + "/", "--token-file",
                    bench.tokenFile,
                ],
                in: bench.directory
            ).end()
            #expect(end.status == 0)
            #expect(end.errors.isEmpty)
            #expect(try JSONValue(parsing: end.output)["response"]?["object"]?.string == "user")
            let run = try await bench.run("get", "/v1/me")
            #expect(run.status == 0)
            #expect(run.output.split(separator: "\n").first.map(String.init) == end.output)
        }
    }

    @Test(arguments: [["status"], ["get", "/v1/me"]])
    func aRevokedSessionIsForgottenAndTheDeviceStaysKnown(arguments: [String]) async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let token = try bench.tokens["client_token"]?.string
            bench.sandbox.endSessions()
            let run = try await bench.finish(bench.start(arguments))
            #expect(run.status == 77)
            #expect(run.kind == "reauthentication_required")
            #expect(run.texts("clear", "credential") == ["session"])
            #expect(try bench.tokens["session_id"] == nil)
            #expect(try bench.tokens["client_token"]?.string == token)
            #expect(permissions(of: bench.tokenFile) == 0o600)
        }
    }

    @Test func signingOutEndsTheSession() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let run = try await bench.run("sign-out")
            #expect(run.status == 0)
            #expect(run.texts("clear", "credential") == ["session"])
            #expect(try bench.tokens.members?.map(\.key) == ["client_token"])
            #expect(bench.routes.last == "POST /v1/client/sessions/{id}/remove")
            #expect(try await bench.run("status").status == 77)
        }
    }

    /// What the server does not know is said, and made good by the next look at the session.
    @Test func signingOutWithoutTheServerIsSaidAndToldLater() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            var fault = SandboxFault(.resetBefore, path: "/v1/client/sessions")
            fault.times = 0
            bench.sandbox.add(fault)
            let run = try await bench.run("sign-out")
            #expect(run.status == 0)
            #expect(run.errors.contains("could not be reached"))
            #expect(try bench.tokens["session_id"] == nil)
            bench.sandbox.clearFaults()
            #expect(try await bench.run("status").status == 77)
            #expect(bench.routes.last == "POST /v1/client/sessions/{id}/remove")
            #expect(try bench.tokens.members?.map(\.key) == ["client_token"])
        }
    }

    @Test func signingOutOfARevokedSessionIsDone() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            bench.sandbox.endSessions()
            #expect(try await bench.run("sign-out").status == 0)
            #expect(try bench.tokens["session_id"] == nil)
        }
    }

    @Test func signingOutWithoutASessionSendsNothing() async throws {
        try await Bench.run { bench in
            let run = try await bench.run("sign-out")
            #expect(run.status == 0)
            #expect(bench.routes.isEmpty)
        }
    }

    /// Without the client's token the server cannot end anything, and the session is of no use.
    @Test func signingOutForgetsASessionWithoutAClient() async throws {
        try await Bench.run { bench in
            try write(#"{"session_id": "sess_1", "theme": "dark"}"#, to: bench.tokenFile)
            #expect(try await bench.run("sign-out").status == 0)
            #expect(try bench.tokens.members?.map(\.key) == ["theme"])
            #expect(bench.routes.isEmpty)
        }
    }

    @Test func aFailureToSignOutKeepsTheSession() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            var fault = SandboxFault(.status, path: "/v1/client/sessions", times: 0)
            fault.status = 500
            bench.sandbox.add(fault)
            #expect(try await bench.run("sign-out").status == 69)
            #expect(try bench.tokens["session_id"] != nil)
        }
    }

    @Test func aProxysPageIsNoAnswer() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            bench.sandbox.add(SandboxFault(.html, path: "/v1/client"))
            #expect(try await bench.run("status").status == 0)
            let before = contents(of: bench.tokenFile)
            bench.sandbox.add(SandboxFault(.html, path: "/v1/client", times: 0))
            let run = try await bench.run("status")
            #expect(run.status == 69)
            #expect(contents(of: bench.tokenFile) == before)
        }
    }

    @Test func aBlankAuthorizationClearsTheClientToken() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            var fault = SandboxFault(.latency, path: "/v1/me")
            fault.headers = ["Authorization": ""]
            bench.sandbox.add(fault)
            let run = try await bench.run("get", "/v1/me")
            #expect(run.status == 0)
            #expect(run.texts("clear", "credential") == ["client"])
            #expect(try bench.tokens["client_token"] == nil)
        }
    }

    @Test func aRotatedTokenIsKeptAndUnknownKeysStay() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let token = try #require(try bench.tokens["client_token"]?.string)
            let session = try #require(try bench.tokens["session_id"]?.string)
            try write(
                #"{"theme": {"dark": true}, "client_token": "\#(token)", "session_id": "\#(session)"}"#,
                to: bench.tokenFile
            )
            bench.sandbox.add(SandboxFault(.rotateToken, path: "/v1/me"))
            let run = try await bench.run("get", "/v1/me", secrets: [token])
            #expect(run.status == 0)
            #expect(try bench.tokens["client_token"]?.string != token)
            #expect(try bench.tokens["theme"]?["dark"]?.bool == true)
            #expect(try await bench.run("status").status == 0)
        }
    }

    @Test func aBrokenTokenFileIsNotTouched() async throws {
        try await Bench.run { bench in
            try write("{", to: bench.tokenFile)
            let run = try await bench.finish(
                bench.start(
                    ["sign-in", "--identifier", "ada@example.com"],
                    answers: #"{"password": "open-sesame-42"}"#
                )
            )
            #expect(run.status == 65)
            #expect(bench.routes.isEmpty)
            #expect(contents(of: bench.tokenFile) == "{")
        }
    }
}
