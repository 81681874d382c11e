import AuthSandbox
import HTTPRecovery
import Testing

/// One pasted response, told in words.
@Suite("auth-client explain", .timeLimit(.minutes(30)), .bounded)
struct ExplainTests {
    /// A text somebody pastes, and what of the answer counts.
    struct Paste: Sendable, CustomTestStringConvertible {
        var name: String
        var provider = "clerk"
        var options: [String] = []
        var text: String
        /// Lines, or parts of them, that have to be there.
        var tells: [String]
        var hides: [String] = []

        var testDescription: String { name }
    }

    static let pastes: [Paste] = [
        Paste(
            name: "curl -i",
            text: """
                HTTP/2 429 \r
                content-type: application/json\r
                Retry-After: 12\r
                \r
                {"errors":[{"code":"too_many_requests","long_message":"Please try again in a bit."}],
                "clerk_trace_id":"abc1"}
                """,
            tells: [
                "HTTP 429: rate_limited\n", "wait          12 s, until ", "code          too_many_requests\n",
                "trace id      abc1\n", "    Please try again in a bit.\n",
                "    wait                  wait the stated time",
                "processed     no", "No request stood there",
            ],
            hides: ["No status stood there"]
        ),
        Paste(
            name: "curl -v, and a redirect before it",
            provider: "okta",
            text: """
                * Connected to example.okta.com
                > POST /api/v1/authn HTTP/1.1
                > Host: example.okta.com
                >\u{20}
                } [20 bytes data]
                < HTTP/1.1 302 Found
                < location: /api/v1/authn
                <\u{20}
                HTTP/1.1 429 is no head in a body, but this is
                < HTTP/1.1 401 Unauthorized
                < X-Okta-Request-Id: reqABC
                <\u{20}
                { [80 bytes data]
                {"errorCode":"E0000004","errorSummary":"Authentication failed","errorId":"oae1"}
                * Connection #0 to host example.okta.com left intact
                """,
            tells: ["HTTP 401: invalid_credentials\n", "code          E0000004\n", "trace id "],
            hides: ["No request stood there", "No status stood there"]
        ),
        Paste(
            name: "a body alone",
            provider: "facebook",
            options: ["--presented", "access"],
            text: #"{"error":{"message":"m","type":"OAuthException","code":190,"error_subcode":459}}"#,
            tells: [
                "HTTP 400: user_action_required\n", "code          190, subcode 459\n", "    visit_provider ",
                "No status stood there: 400 is supposed",
            ]
        ),
        Paste(
            name: "a body and its status",
            provider: "oauth",
            options: ["--status", "401", "--request", "POST /token", "--presented", "refresh"],
            text: "{\n  \"error\": \"invalid_grant\"\n}\n",
            tells: ["HTTP 401: credential_rejected\n", "credential    refresh: remove it"],
            hides: ["stood there"]
        ),
        Paste(
            name: "a line for classify",
            provider: "http",
            text: #"{"name":"n","request":{"method":"GET","path":"/a"},"status":0,"error":"never_sent"}"#,
            tells: ["No answer (never sent): transport\n", "processed     no"]
        ),
        Paste(
            name: "a token that curl presented",
            provider: "oauth",
            text: """
                > GET /items HTTP/1.1
                > Authorization: Bearer secret-of-somebody
                >
                < HTTP/1.1 401 Unauthorized
                < WWW-Authenticate: Bearer error="invalid_token"
                <
                """,
            tells: ["HTTP 401: credential_rejected\n", "credential    access: remove it"],
            hides: ["secret-of-somebody"]
        ),
        Paste(
            name: "a success",
            provider: "http",
            text: "HTTP/1.1 200 OK\ncontent-type: text/plain\n\nhello\n",
            tells: ["HTTP 200: ok\n", "A success."],
            hides: ["What helps", "holds for"]
        ),
        Paste(
            name: "a page that wants to steer the terminal",
            provider: "clerk",
            text: "HTTP/1.1 422 \u{1B}[2J\nX: \u{1B}]0;t\u{07}\n\n"
                + #"{"errors":[{"code":"form_code_incorrect","long_message":"Wrong\u001b[31m code"}]}"#,
            tells: ["HTTP 422: challenge_incorrect\n", "    Wrong [31m code\n"],
            hides: ["\u{1B}"]
        ),
        Paste(
            name: "a batch",
            provider: "facebook",
            text: "HTTP/1.1 200 OK\n\n"
                + #"[{"code":200,"body":"{\"id\":\"1\"}"},{"code":400,"body":"{\"error\":{\"code\":4,\"message\":\"m\"}}"}]"#,
            tells: ["Item 1 of 2, HTTP 200: ok\n", "Item 2 of 2, HTTP 400: rate_limited\n"]
        ),
    ]

    @Test(arguments: pastes) func whatWasPastedIsExplained(paste: Paste) async throws {
        let end = try await BuiltProgram.run(
            "auth-client",
            ["--provider", paste.provider, "explain"] + paste.options,
            input: paste.text
        )
        #expect(end.status == 0)
        #expect(end.errors.isEmpty)
        for text in paste.tells { #expect(end.output.contains(text), "\(text) is not in\n\(end.output)") }
        for text in paste.hides { #expect(!end.output.contains(text), "\(text) is in\n\(end.output)") }
    }

    @Test(arguments: pastes) func asJSONItIsTheAnswerOfClassify(paste: Paste) async throws {
        let end = try await BuiltProgram.run(
            "auth-client",
            ["--provider", paste.provider, "explain", "--json"] + paste.options,
            input: paste.text
        )
        #expect(end.status == 0)
        let answer = try JSONValue(parsing: end.output)
        #expect(answer.members?.first?.key == "name")
        let word = answer["kind"]?.string ?? "?"
        #expect(paste.tells.contains { $0.contains(": \(word)\n") } || !(answer["items"]?.array ?? []).isEmpty)
    }

    @Test(arguments: ["", " \r\n\t\n"]) func nothingPastedIsSaid(text: String) async throws {
        let end = try await BuiltProgram.run("auth-client", ["--provider", "okta", "explain"], input: text)
        #expect(end.status == 65)
        #expect(end.errors.contains("nothing was pasted"))
    }

    @Test(arguments: [
        "--provider clerk explain --status 42",
        "--provider clerk explain --request nonsense",
        "--provider clerk explain --presented banana",
        "--provider clerk classify --status 400",
        "--provider clerk explain --identifier ada",
        "--provider clerk explain /path",
    ])
    func whatIsNotUnderstoodIsAUsageError(line: String) async throws {
        let end = try await BuiltProgram.run("auth-client", line.split(separator: " ").map(String.init))
        #expect(end.status == 64)
        #expect(end.output.isEmpty)
    }

    @Test func anyNumberOfFieldsEndsInAWord() async throws {
        let text = "HTTP/1.1 500 X\n" + String(repeating: "A: b\n", count: 70_000) + "\n{}"
        let end = try await BuiltProgram.run("auth-client", ["--provider", "clerk", "explain"], input: text)
        #expect(end.status == 65)
        #expect(end.errors.contains("more than 1000 header fields"))
    }

    /// What an answer means may depend on the query of its request, wherever that stands.
    @Test(arguments: [
        (["--request", "GET /oauth2/v1/authorize?sessionToken=s3cret"], ""),
        ([], "> GET /oauth2/v1/authorize?sessionToken=s3cret HTTP/1.1\n>\n"),
    ])
    func theQueryOfTheRequestCounts(options: [String], request: String) async throws {
        let end = try await BuiltProgram.run(
            "auth-client",
            ["--provider", "okta", "explain", "--presented", "session"] + options,
            input: request + "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<html><body>Sign in</body></html>"
        )
        #expect(end.output.hasPrefix("HTTP 200: credential_rejected\n"))
        #expect(!end.output.contains("s3cret") && !end.errors.contains("s3cret"))
    }

    @Test func aHeaderNeedsNoStatusLine() async throws {
        let text = "Retry-After: 10\nContent-Type: application/json\n\n{}"
        let end = try await BuiltProgram.run(
            "auth-client",
            ["--provider", "clerk", "explain", "--status", "429"],
            input: text
        )
        #expect(end.output.hasPrefix("HTTP 429: rate_limited\n"))
        #expect(end.output.contains("wait          10 s"))
    }

    @Test func whatTheSandboxAnswersIsExplained() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let locked = try await BuiltProgram.run(
            "http-recover",
            ["-X", "POST", "-d", #"{"user":"ada@example.com","seconds":90}"#, sandbox.url + "/_sandbox/lock"]
        )
        #expect(locked.status == 0)
        let raw = try await BuiltProgram.run(
            "http-recover",
            ["--no-recovery", "-d", "identifier=ada@example.com&password=x", "\(sandbox.url)/v1/client/sign_ins"]
        )
        let end = try await BuiltProgram.run(
            "auth-client",
            ["--provider", "clerk", "explain", "--status", "403", "--request", "POST /v1/client/sign_ins"],
            input: raw.output
        )
        #expect(end.output.hasPrefix("HTTP 403: account_locked\n"))
        #expect(end.output.contains("locked        1 min "))
    }
}
