import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Recorded exchanges")
struct RecordedExchangeTests {
    private func answer(_ line: String) -> JSONValue {
        RecordedExchange.answer(to: Array(line.utf8), by: HTTPClassifier(), systemTime: present)
    }

    @Test func anAnswerHasEveryKeyInOrder() {
        let line = """
            {"name":"n","request":{"method":"GET","path":"/x?y=1","presented":"access"},"status":429,
            "headers":{"Retry-After":"1"},"body":""}
            """.replacing("\n", with: "")
        #expect(
            answer(line).description == """
                {"name":"n","kind":"rate_limited","code":null,"subcode":null,"status_type":null,"factor_result":null,\
                "param":null,"credential":null,"retry_after_s":1,"lockout_s":null,"token_action":"keep",\
                "remedies":["wait"],"processed":"no","user_message":null,"trace_id":null,"advice":null,"items":null}
                """
        )
    }

    @Test(
        arguments: [
            (#""headers":{"Retry-After":["5"]}"#, 5.0), (#""headers":{"retry-after":5}"#, 5),
            (#""headers":{"RETRY-AFTER":["5","9"]}"#, 9), (#""headers":{"Retry-After":null}"#, nil),
            (#""headers":{"Retry-After":["5",null,{}]}"#, 5),
            (#""headers":{"bad name":"5","":"5",":status":"5"}"#, nil),
            (#""headers":null"#, nil), (#""headers":[]"#, nil), (#""body":null"#, nil), (#""body":{"a":[1]}"#, nil),
            (#""headers":{"Retry-After":"Thu, 01 Jan 2026 00:00:09 GMT"}"#, 9),
            (#""client_now":1767225605,"headers":{"Retry-After":"Thu, 01 Jan 2026 00:00:09 GMT"}"#, 4),
            (#""client_now":"1767225605.5","headers":{"Retry-After":"Thu, 01 Jan 2026 00:00:09 GMT"}"#, 3.5),
            (#""client_now":1e400,"headers":{"Retry-After":"Thu, 01 Jan 2026 00:00:09 GMT"}"#, 0),
            (#""client_now":true,"headers":{"retry-after-ms":"64570"}"#, 64.57),
        ] as [(String, Double?)]
    )
    func headersAndClock(members: String, seconds: Double?) {
        let value = answer(#"{"request":{"method":"GET","path":"/"},"status":429,\#(members)}"#)
        #expect(value["kind"] == "rate_limited" && value["name"]?.isNull == true)
        #expect(value["retry_after_s"]?.number?.double == seconds)
    }

    @Test(arguments: [
        (#""never_sent""#, "no"), (#""not_processed""#, "no"), (#""unknown""#, "unknown"), ("null", "unknown"),
        (#""martian""#, "unknown"),
    ])
    func noAnswer(error: String, processed: String) {
        let value = answer(#"{"name":"x","request":{"method":"POST","path":"/"},"status":0,"error":\#(error)}"#)
        #expect(value["kind"] == "transport" && value["processed"]?.string == processed)
        #expect(value["remedies"] == ["retry"] && value["token_action"] == "keep")
    }

    @Test(arguments: [
        "", " ", "null", "[]", "7", "{", "{}", "x", #"{"name":"x"}"#, #"{"name":"x","request":{},"status":200}"#,
        #"{"name":"x","request":{"method":"GET"},"status":200}"#,
        #"{"name":"x","request":{"method":"GET","path":"/"}}"#,
        #"{"name":"x","request":{"method":"GET","path":7},"status":200}"#,
        #"{"name":"x","request":{"method":"G T","path":"/"},"status":200}"#,
        #"{"name":"x","request":{"method":"GET","path":"/"},"status":1000}"#,
        #"{"name":"x","request":{"method":"GET","path":"/"},"status":-1}"#,
        #"{"name":"x","request":{"method":"GET","path":"/"},"status":1e400}"#,
        #"{"name":"x","request":{"method":"GET","path":"/"},"status":200.5}"#,
        #"{"name":"x","request":{"method":"GET","path":"/"},"status":null}"#,
        String(repeating: "[", count: 100_000),
    ])
    func whatIsNoRecordIsAnInvalidRequest(line: String) {
        let value = answer(line)
        #expect(value["kind"] == "invalid_request" && value["name"]?.isNull == true)
        #expect(value.members?.count == 17)
    }

    @Test func someLicenceIsTaken() throws {
        let line = #"{"name":7,"request":{"method":"post","path":"/a?b#c","presented":"none"},"status":"200"}"#
        let record = try RecordedExchange(line: Array(line.utf8), systemTime: present)
        #expect(record.name == nil && record.exchange.method == .post && record.exchange.path == "/a")
        #expect(record.exchange.presented == nil && record.exchange.now == present)
    }

    @Test func theItemsOfABatchHaveTheSameKeys() {
        var batch = Outcome(.ok, processed: .yes)
        var locked = Outcome(.accountLocked)
        locked.lockout = .remaining(.seconds(5))
        batch.items = [locked, Outcome(.ok)]
        let value = batch.json(name: "b")
        #expect(value["items"]?[0]?["lockout_s"]?.number?.text == "5")
        #expect(value["items"]?[0]?.members?.map(\.key) == value.members?.map(\.key))
        locked.lockout = .indefinite
        #expect(locked.json(name: nil)["lockout_s"]?.isNull == true)
    }
}
