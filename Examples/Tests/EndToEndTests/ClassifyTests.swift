import Glibc
import HTTPRecovery
import Testing

@Suite("auth-client classify", .timeLimit(.minutes(30)), .bounded)
struct ClassifyTests {
    private static let keys = [
        "name", "kind", "code", "subcode", "status_type", "factor_result", "param", "credential", "retry_after_s",
        "lockout_s", "token_action", "remedies", "processed", "user_message", "trace_id", "advice", "items",
    ]

    private static func classify(_ provider: String, _ lines: String...) async throws -> [JSONValue] {
        let end = try await BuiltProgram.run(
            "auth-client",
            ["classify", "--provider", provider],
            input: lines.joined(separator: "\n")
        )
        #expect(end.status == 0)
        #expect(end.errors.isEmpty)
        let answers = try end.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        for answer in answers { #expect(answer.members?.map(\.key) == keys) }
        return answers
    }

    @Test func clerksWordsAreUnderstood() async throws {
        let request = #""request":{"method":"POST","path":"/v1/client/sign_ins","presented":"client"}"#
        let body = #"{\"errors\":[{\"code\":\"user_locked\",\"meta\":{\"lockout_expires_in_seconds\":90}}]}"#
        let answers = try await Self.classify(
            "clerk",
            #"{"name":"a","# + request + #","status":403,"headers":{},"body":""# + body + #""}"#,
            "not JSON",
            "",
            #"{"name":"b","# + request + #","status":429,"headers":{"Retry-After":"7"},"body":""}"#,
            #"{"name":"c","# + request + #","status":0,"headers":{},"body":"","error":"never_sent"}"#,
            #"{"name":"d","# + request.replacing("POST", with: "DELETE").replacing("/sign_ins", with: "")
                + #","status":200,"headers":{"authorization":""},"body":"{}"}"#,
            #"{"name":"e","# + request + #","status":200,"headers":{"authorization":""},"body":"{}"}"#
        )
        try #require(answers.count == 6)
        #expect(answers.map { $0["name"]?.string } == ["a", nil, "b", "c", "d", "e"])
        let kinds = ["account_locked", "invalid_request", "rate_limited", "transport", "ok", "unreadable"]
        #expect(answers.map { $0["kind"]?.string } == kinds)
        #expect(answers[0]["code"]?.string == "user_locked")
        #expect(answers[0]["lockout_s"]?.number?.saturatedInt == 90)
        #expect(answers[0]["retry_after_s"]?.isNull == true)
        #expect(answers[1]["name"]?.isNull == true)
        #expect(answers[2]["retry_after_s"]?.number?.saturatedInt == 7)
        #expect(answers[2]["processed"]?.string == "no")
        #expect(answers[3]["processed"]?.string == "no")
        #expect(answers[4]["token_action"]?.string == "clear")
        #expect(answers[5]["token_action"]?.string == "keep")
    }

    @Test func auth0sWordsAreUnderstood() async throws {
        let request = #""request":{"method":"POST","path":"/oauth/token"}"#
        func refused(_ status: Int, _ word: String, _ text: String) -> String {
            let body = #"{\"error\":\"\#(word)\",\"error_description\":\"\#(text)\"}"#
            return #"{\#(request),"status":\#(status),"headers":{},"body":"\#(body)"}"#
        }
        let answers = try await Self.classify(
            "auth0",
            refused(403, "invalid_grant", "Wrong email or password."),
            refused(429, "too_many_attempts", "Your account has been blocked after multiple failures."),
            refused(401, "password_leaked", "This login has been blocked because your password has been leaked.")
        )
        #expect(
            answers.map { $0["kind"]?.string } == ["invalid_credentials", "account_locked", "password_compromised"]
        )
        #expect(answers[1]["remedies"]?.array?.first?.string == "unlock" && answers[1]["lockout_s"]?.isNull == true)
    }

    @Test func plainHTTPIsUnderstood() async throws {
        let request = #""request":{"method":"GET","path":"/items"}"#
        let answers = try await Self.classify(
            "http",
            #"{"name":"a","# + request + #","status":503,"headers":{"retry-after":["12"]},"body":""}"#,
            #"{"name":"b","# + request + #","status":500,"headers":{},"body":""}"#,
            #"{"name":"c","# + request + #","status":429,"headers":{"retry-after":"Thu, 01 Jan 2026 00:01:00 GMT","#
                + #""date":"Thu, 01 Jan 2026 00:00:00 GMT"},"body":"","client_now":5}"#
        )
        #expect(answers.map { $0["kind"]?.string } == ["unavailable", "unavailable", "rate_limited"])
        #expect(answers.map { $0["processed"]?.string } == ["no", "unknown", "no"])
        #expect(answers.map { $0["retry_after_s"]?.number?.saturatedInt } == [12, nil, 60])
    }

    @Test func facebooksBatchesAreToldItemByItem() async throws {
        let batch =
            #"[{\"code\":200,\"body\":\"{}\"},null,{\"code\":400,\"body\":\"{\\\"error\\\":{\\\"code\\\":190,"#
            + #"\\\"error_subcode\\\":463}}\"}]"#
        let answers = try await Self.classify(
            "facebook",
            #"{"name":"a","request":{"method":"POST","path":"/v25.0/","presented":"access"},"status":200,"#
                + #""headers":{},"body":""# + batch + #""}"#,
            #"{"name":"b","request":{"method":"GET","path":"/v25.0/me","presented":"access"},"status":400,"#
                + #""headers":{"X-Business-Use-Case-Usage":"{\"1\":[{\"type\":\"ads_management\","#
                + #"\"estimated_time_to_regain_access\":10}]}"},"body":{"error":{"code":80004}}}"#
        )
        let items = answers[0]["items"]?.array
        #expect(answers[0]["kind"]?.string == "ok")
        #expect(items?.map { $0["kind"]?.string } == ["ok", "unavailable", "credential_rejected"])
        #expect(items?[2]["subcode"]?.string == "463")
        #expect(items?[2].members?.map(\.key) == Self.keys)
        #expect(answers[1]["items"]?.isNull == true)
        #expect(answers[1]["retry_after_s"]?.number?.saturatedInt == 600)
    }

    @Test func eachItemOfABatchHasItsOwnMeaning() async throws {
        let bodies: [(code: String, body: String)] = [
            ("403", #"{"error":{"message":"m","code":4,"is_transient":true}}"#),
            ("\"400\"", #"{"error":{"message":"m","code":"190","error_subcode":"459"}}"#),
            ("500", #"{"error":{"message":"m","code":1}}"#), ("200", #"{"error":{"message":"m","code":2}}"#),
            ("400", #"{"error":{"message":"m","code":506,"error_user_msg":"Posted already."}}"#), ("404", "[]"),
        ]
        let items = bodies.map { item in
            let body = JSONValue.string(item.body).description
            return #"{"code":\#(item.code),"headers":[{"name":"Retry-After","value":"7"}],"body":\#(body)}"#
        }
        let batch = JSONValue.string("[" + items.joined(separator: ",") + "]").description
        let answers = try await Self.classify(
            "facebook",
            #"{"name":"a","request":{"method":"POST","path":"/","presented":"access"},"status":200,"headers":{},"#
                + #""body":\#(batch)}"#
        )
        let told = try #require(answers.first?["items"]?.array)
        let kinds = ["rate_limited", "user_action_required", "unavailable", "unavailable", "conflict", "not_found"]
        #expect(told.map { $0["kind"]?.string } == kinds)
        #expect(told[0]["retry_after_s"]?.number?.saturatedInt == 7)
        #expect(told[1]["subcode"]?.string == "459")
        #expect(told[1]["token_action"]?.string == "keep")
        #expect(told[4]["user_message"]?.string == "Posted already.")
        #expect(told.allSatisfy { $0["items"]?.isNull == true })
    }

    @Test func aFullDiskIsToldOf() async throws {
        try await withTemporaryDirectory { directory in
            try #require(unsafe symlink("/dev/full", directory + "/out") == 0)
            let program = try BuiltProgram(
                "auth-client",
                ["--provider", "http", "classify"],
                in: directory,
                input: "{}"
            )
            #expect(await program.exitStatus() == 65)
            #expect(contents(of: directory + "/err").hasPrefix("auth-client: standard output cannot be written"))
        }
    }

    @Test func nothingIsAnsweredWithNothing() async throws {
        #expect(try await Self.classify("clerk").isEmpty)
    }
}
