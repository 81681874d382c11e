import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The built program against a server on the loopback interface.
@Suite("http-recover", .timeLimit(.minutes(30)))
struct HTTPRecoverTests {
    private typealias Reply = FaultServer.Reply

    private static func url(_ server: FaultServer, _ path: String = "/") -> String {
        "http://\(server.authority)\(path)"
    }

    @Test func aRateLimitIsWaitedOut() async throws {
        let server = try FaultServer(.answer(429, headers: [("Retry-After", "1")]), .answer(body: "at last"))
        let result = try await RunningProgram.httpRecover(Self.url(server, "/items?key=s3cret"))
        #expect(result.status == 0)
        #expect(result.output == "at last")
        #expect(result.errors.isEmpty)
        let names = result.events.compactMap { $0["event"]?.string }
        #expect(names == ["attempt", "response", "failure", "wait", "retry", "attempt", "response", "done"])
        #expect(
            result.all("attempt", "url").compactMap(\.string) == [
                Self.url(server, "/items"), Self.url(server, "/items"),
            ]
        )
        #expect(try #require(result.all("wait", "seconds").first?.number).double >= 1)
    }

    @Test(arguments: [
        // What each line holds, in order.
        (["--verbose"], ["attempt 1: GET ", "HTTP 503", "the server states 1 s", "wait ", "attempt 2", "done: ok"]),
        (["--plain"], ["HTTP 503, unavailable; waiting "]), (["--quiet"], []), ([], []),
        (["--verbose", "--events", "-"], ["\"event\":\"attempt\"", "\"event\":\"done\""]),
    ])
    func aPersonIsToldAsMuchAsTheyWant(options: [String], lines: [String]) async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "1")]), .answer(body: "at last"))
        try await withTemporaryDirectory { directory in
            let url = Self.url(server, "/items?key=s3cret")
            let result = try await RunningProgram.httpRecover(options + [url], in: directory).result()
            #expect(result.status == 0 && result.output == "at last")
            var rest = result.errors[...]
            for line in lines {
                let found = try #require(rest.firstRange(of: line), "\(line) in \(result.errors)")
                rest = rest[found.upperBound...]
            }
            #expect(!lines.isEmpty || result.errors.isEmpty)
            #expect(!result.errors.contains("s3cret") && !result.errors.contains("\u{1B}"))
        }
    }

    @Test func theBodyOfAnErrorIsPrintedToo() async throws {
        let server = try FaultServer(.answer(404, body: "no such thing"))
        let result = try await RunningProgram.httpRecover(Self.url(server))
        #expect(result.status == 22)
        #expect(result.output == "no such thing")
        #expect(result.errors.hasPrefix("http-recover: GET \(Self.url(server)): HTTP 404."))
        #expect(result.all("giving_up", "kind").compactMap(\.string) == ["not_found"])
    }

    @Test(arguments: [
        (["--max-wait", "1"], Int32(22), "wait_exceeds_limit"), (["--deadline", "20"], 28, "deadline_would_pass"),
    ])
    func aWaitPastALimitIsNotBegun(options: [String], status: Int32, reason: String) async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "30")]))
        try await withTemporaryDirectory { directory in
            let program = try RunningProgram.httpRecover(options + [Self.url(server)], in: directory)
            let result = try await program.result()
            #expect(result.status == status)
            #expect(result.all("giving_up", "reason").compactMap(\.string) == [reason])
            #expect(result.all("giving_up", "retry_after_s").compactMap(\.number?.saturatedInt) == [30])
            #expect(result.all("wait", "seconds").isEmpty)
        }
    }

    /// Facebook states no time, and calls made meanwhile make its limits last longer.
    @Test(arguments: [(403, #"{"error":{"code":4}}"#), (200, "{}")])
    func aLimitOfFacebooksIsLeftAloneForAMinute(status: Int, body: String) async throws {
        let usage = [("X-App-Usage", #"{"call_count":100}"#)]
        let server = try FaultServer(.answer(status, headers: usage, body: body), .answer(body: "{}"))
        try await withTemporaryDirectory { directory in
            let options = ["--provider", "facebook", "--max-wait", "10", "--repeat", "2"]
            let result = try await RunningProgram.httpRecover(options + [Self.url(server)], in: directory).result()
            #expect(result.status == 22)
            let reasons = Set(result.all("giving_up", "reason").compactMap(\.string))
            #expect(reasons == ["wait_exceeds_limit"])
            #expect(result.all("giving_up", "retry_after_s").compactMap(\.number?.double).allSatisfy { $0 > 50 })
            #expect(result.all("wait", "seconds").isEmpty)
            #expect(result.all("response", "status").count == 1)
        }
    }

    @Test(arguments: ["curl", "ahc"])
    func aRefusalIsWaitedOut(transport: String) async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "1")]), .answer(body: "at last"))
        let result = try await RunningProgram.httpRecover("--transport", transport, Self.url(server))
        #expect(result.status == 0)
        #expect(result.output == "at last")
        #expect(server.receivedRequests.count == 2)
    }

    @Test(arguments: ["curl", "ahc"])
    func aPostWhoseAnswerWasLostIsSentOnce(transport: String) async throws {
        let server = try FaultServer(.reset)
        let result = try await RunningProgram.httpRecover("--transport", transport, "-d", "a=1", Self.url(server))
        #expect(result.status == 56)
        #expect(server.receivedRequests.count == 1)
        #expect(server.receivedRequests.first?.text == "a=1")
        #expect(server.receivedRequests.first?.headers[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func anIdempotencyKeyIsTheSameOnEachAttemptOfACall() async throws {
        let server = try FaultServer(.reset, .answer(), .reset, .answer())
        let result = try await RunningProgram.httpRecover(
            "-d",
            "a=1",
            "--idempotency-key",
            "auto",
            "--repeat",
            "2",
            Self.url(server)
        )
        #expect(result.status == 0)
        #expect(result.output == "200\n200\n")
        let keys = server.receivedRequests.map { $0.headers[.idempotencyKey] }
        #expect(keys.count == 4)
        #expect(keys[0] == keys[1])
        #expect(keys[2] == keys[3])
        #expect(keys[0] != keys[2])
        #expect(keys[0]?.hasPrefix("\"") == true)
    }

    @Test func aBodyThatBreaksOffIsFetchedAgain() async throws {
        let server = try FaultServer(.truncatedChunks, .answer(body: "whole"))
        let result = try await RunningProgram.httpRecover(Self.url(server))
        #expect(result.status == 0)
        #expect(result.output == "whole")
    }

    @Test func aBodyThatIsTooLargeIsRefused() async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\n\r\n").then(.endless("0123456789")))
        let result = try await RunningProgram.httpRecover("--max-body", "1000", Self.url(server))
        #expect(result.status == 56)
        #expect(result.output.utf8.count == 1000)
        #expect(result.all("giving_up", "kind").compactMap(\.string) == ["transport"])
    }

    @Test func anUnreachableServerIsSeven() async throws {
        let port = try RefusingPort()
        let result = try await RunningProgram.httpRecover("http://127.0.0.1:\(port.port)/", "--backoff", "0,0")
        #expect(result.status == 7)
        #expect(result.all("attempt", "n").count == 3)
    }

    @Test func severalCallsHaveALineEachInTheirOrder() async throws {
        let server = try FaultServer { request in
            switch request.path {
            case "/good": .answer()
            case "/bad": .answer(400)
            default: .reset
            }
        }
        let urls = ["/good", "/bad", "/lost"].map { Self.url(server, $0) }
        try await withTemporaryDirectory { directory in
            let options = ["--repeat", "3", "--concurrency", "4", "--backoff", "0,0"]
            let result = try await RunningProgram.httpRecover(options + urls, in: directory).result()
            #expect(result.status == 56)
            #expect(result.output == String(repeating: "200\n400\n000\n", count: 3))
            #expect(result.all("done", "call").compactMap(\.number?.saturatedInt).sorted() == Array(1...9))
        }
    }

    @Test func redirectsAreFollowedOnRequestAndWithoutSecrets() async throws {
        let target = try FaultServer { .echo($0) }
        let server = try FaultServer(.answer(302, headers: [("Location", Self.url(target, "/there"))]))
        let unfollowed = try await RunningProgram.httpRecover(Self.url(server))
        #expect(unfollowed.status == 0)
        #expect(target.receivedRequests.isEmpty)
        let followed = try await RunningProgram.httpRecover(
            "--location",
            "-H",
            "Authorization: s3cret",
            Self.url(server)
        )
        #expect(followed.status == 0)
        #expect(followed.output.hasPrefix("GET /there"))
        #expect(!followed.output.contains("s3cret"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func anInterruptionEndsAWaitAtOnce(signal: Int32) async throws {
        let server = try FaultServer(.answer(429, headers: [("Retry-After", "100")]))
        try await withTemporaryDirectory { directory in
            let program = try RunningProgram.httpRecover([Self.url(server), Self.url(server)], in: directory)
            try await program.event("wait")
            program.signal(signal)
            let result = try await program.result()
            #expect(result.status == 130)
            #expect(result.output == "000\n")
            #expect(result.all("done", "outcome").compactMap(\.string) == ["cancelled", "cancelled"])
            #expect(result.all("done", "call").compactMap(\.number?.saturatedInt) == [1, 2])
            #expect(try #require(result.all("done", "waited_s").first?.number).double < 100)
        }
    }

    @Test func anInterruptionEndsATransferAndLeavesNoFile() async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun").then(.stall))
        try await withTemporaryDirectory { directory in
            let file = directory + "/file"
            let program = try RunningProgram.httpRecover(["-o", file, Self.url(server)], in: directory)
            try await program.event("response")
            program.signal(SIGINT)
            let result = try await program.result()
            #expect(result.status == 130)
            #expect(result.all("done", "outcome").compactMap(\.string) == ["cancelled"])
            #expect(names(in: directory) == ["err", "events", "out"])
        }
    }

    @Test(arguments: [
        [], ["--unknown"], ["--deadline", "soon"], ["--deadline", "-1"], ["--hedge", "-1"], ["--breaker", "0.5"],
        ["--transport", "urlsession"], ["--transport", "ahc", "--proxy", "socks4://localhost:1080"],
        ["--transport", "ahc", "--proxy", "https://localhost:3128"],
        ["--transport", "ahc", "-w", "%{time_connect}"], ["--transport", "ahc", "--tlsv1.3"],
        ["--transport", "ahc", "--pinnedpubkey", "sha256//AAAA"], ["--transport", "ahc", "--unix-socket", "/tmp/x"],
        ["--transport", "ahc", "--resolve", "a:80:127.0.0.1"],
        ["--transport", "ahc", "--proxy", "socks5://user:pass@localhost:1080"],
        ["-H", "no colon"], ["--max-attempts", "0"], ["--http1.1", "--http2"], ["ftp://h/"],
    ])
    func wrongUsageIs64AndSendsNothing(arguments: [String]) async throws {
        let server = try FaultServer(.answer())
        try await withTemporaryDirectory { directory in
            let urls = arguments.isEmpty ? [] : [Self.url(server)]
            let result = try await RunningProgram.httpRecover(arguments + urls, in: directory).result()
            #expect(result.status == 64)
            #expect(result.errors.hasPrefix("Error: "))
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: [["-d", "@/nonexistent"], ["--cacert", "/nonexistent"], ["-o", "/nonexistent/file"]])
    func filesThatCannotBeUsedAre65AndNothingIsSent(arguments: [String]) async throws {
        let server = try FaultServer(.answer())
        try await withTemporaryDirectory { directory in
            let result = try await RunningProgram.httpRecover(arguments + [Self.url(server)], in: directory).result()
            #expect(result.status == 65)
            #expect(result.errors.hasPrefix("http-recover: /nonexistent"))
            #expect(server.connectionCount == 0)
        }
    }

    @Test func theHelpNamesEveryOptionAndNoneThatIsMissing() async throws {
        let result = try await RunningProgram.httpRecover("--help")
        #expect(result.status == 0)
        for option in [
            "-X,", "-H,", "-d,", "-o,", "--transport", "--max-attempts", "--deadline", "--attempt-timeout",
            "--max-wait",
            "--backoff", "--idempotency-key", "--replayable", "--no-recovery", "--repeat", "--concurrency",
            "--budget-ratio", "--budget-burst", "--breaker", "--hedge", "--state", "--provider", "--location",
            "--insecure", "--cacert",
            "--token-file", "--token-url", "--client-id", "--client-secret-env", "sqlite:PATH", "redis://",
            "--http1.1", "--http2", "--proxy", "--max-body", "--events", "--summary", "130  interrupted",
        ] {
            #expect(result.output.contains(option), "\(option)")
        }
        #expect(result.output.contains("ahc"))
        #expect(!result.output.contains("urlsession"))
    }
}
