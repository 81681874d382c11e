import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Faults")
struct FaultTests {
    private func struck(_ json: String, signIn: Bool = true) throws -> Harness {
        var client = Harness()
        client.world.faults.add(try SandboxFault(json: json))
        if signIn { client.signIn("ada@example.com") } else { client.call("GET", "environment") }
        return client
    }

    @Test(arguments: [
        (#"{"kind": "status", "status": 429}"#, 429, "too_many_requests"),
        (#"{"kind": "status"}"#, 503, "service_unavailable"),
        (#"{"kind": "status", "status": 500}"#, 500, "internal_clerk_error"),
        (#"{"kind": "status", "status": 409}"#, 409, "resource_locked"),
        (#"{"kind": "status", "status": 401, "code": "requires_captcha"}"#, 401, "requires_captcha"),
        (#"{"kind": "envelope", "code": "form_code_incorrect"}"#, 422, "form_code_incorrect"),
    ])
    func statuses(json: String, status: Int, code: String) throws {
        let client = try struck(json)
        #expect(client.status == status && client.code == code)
        #expect(client.world.clerk.sessions.isEmpty)
    }

    @Test(
        arguments: [
            ("5", "5"), (#""date:10""#, "Fri, 15 Jan 2027 08:00:10 GMT"),
            (#""huge""#, "1" + String(repeating: "0", count: 30)),
            (#""nan""#, "nan"), ("1.5", "1.5"), ("null", nil),
            (#""date:-9223372036854775808""#, "date:-9223372036854775808"),
        ] as [(String, String?)]
    )
    func retryAfter(json: String, header: String?) throws {
        let client = try struck(#"{"kind": "status", "status": 429, "retry_after": \#(json)}"#)
        #expect(client.answer.header("Retry-After") == header)
    }

    @Test func envelopes() throws {
        func body(_ name: String) throws -> JSONValue? {
            try struck(#"{"kind": "envelope", "envelope": "\#(name)", "code": "c", "meta": {"x": 1}}"#).answer.jsonBody
        }
        #expect(try body("A")?["errors"]?[0]?["meta"]?["x"] == 1)
        #expect(try body("B")?["error"]?["code"] == "c")
        #expect(try body("C")?["error"] == "c")
        #expect(try body("D")?["clerk_error"]?["type"] == "forbidden")
        #expect(try body("E") == [:])
        #expect(try body("two")?["errors"]?.array?.count == 2)
        #expect(try body("A+client")?["meta"]?["client"] == .null)
    }

    @Test func theClientInTheMeta() throws {
        var client = Harness()
        client.signIn("ada@example.com")
        client.world.faults.add(try SandboxFault(json: #"{"kind": "envelope", "envelope": "A+client"}"#))
        let meta = client.call("GET", "client")["meta"]
        #expect(meta?["client"]?["sessions"]?.array?.count == 1)
    }

    @Test(arguments: [
        ("reset_before", SandboxReply.Delivery.reset, false), ("reset_after", .reset, true),
        ("close_before", .close, false), ("close_after", .close, true), ("hang", .hang, false),
        ("truncate", .truncated(reset: false), true), ("truncate_reset", .truncated(reset: true), true),
        ("latency", .whole, true), ("html", .whole, false), ("empty", .whole, false),
        ("trickle", .trickle(pauseMilliseconds: 10), true), ("rotate_token", .whole, true),
    ])
    func deliveryAndEffect(kind: String, delivery: SandboxReply.Delivery, processed: Bool) throws {
        let client = try struck(#"{"kind": "\#(kind)"}"#)
        #expect(client.reply.delivery == delivery)
        #expect(client.world.clerk.sessions.isEmpty == !processed)
        let record = client.world.log.records.last
        #expect(record?.isProcessed == processed && record?.fault == kind)
        #expect(client.world.log.counts["POST /v1/client/sign_ins"]?.processed == (processed ? 1 : 0))
    }

    @Test func theEffectCanBeChosen() throws {
        let done = try struck(#"{"kind": "status", "status": 500, "processed": true}"#)
        #expect(done.status == 500 && !done.world.clerk.sessions.isEmpty)
        let hung = try struck(#"{"kind": "hang", "processed": true}"#)
        #expect(hung.reply.delivery == .hang && !hung.world.clerk.sessions.isEmpty)
        let late = try struck(#"{"kind": "latency", "delay_ms": 5, "processed": false}"#)
        #expect(late.status == 503 && late.reply.delay == 5)
    }

    @Test func rotationInMidFlight() throws {
        var client = Harness()
        client.call("POST", "client")
        let before = client.token
        client.world.faults.add(try SandboxFault(json: #"{"kind": "rotate_token"}"#))
        client.call("GET", "client")
        #expect(client.token != before)
        #expect(client.call("GET", "client")["response"]?["object"] == "client")
    }

    @Test func aPercentageStrikesAsOftenAndTheSameWithTheSameSeed() throws {
        func statuses() -> [Int] {
            var client = Harness()
            client.control(
                "POST",
                "faults",
                #"[{"kind": "status", "percent": 20, "times": 0}, {"kind": "status", "status": 502, "times": 1}]"#
            )
            return (0..<500).map { _ in
                client.call("GET", "environment")
                return client.status
            }
        }
        let all = statuses()
        #expect((70...130).contains(all.count { $0 == 503 }))
        #expect(all.first { $0 != 503 } == 502, "what it leaves alone is left to the next fault")
        #expect(all.count { $0 == 502 } == 1)
        #expect(statuses() == all)
        var client = Harness()
        for percent in ["0", "101", "-1", "0.5"] {
            client.control("POST", "faults", #"{"kind": "status", "percent": \#(percent)}"#)
            #expect(client.status == 400, "\(percent)")
        }
    }

    @Test func timesSkipAndOrder() throws {
        var client = Harness()
        client.control(
            "POST",
            "faults",
            #"[{"kind": "status", "status": 500, "times": 2, "skip": 1}, {"kind": "status", "status": 502, "times": 0}]"#
        )
        let statuses = (0..<5).map { _ -> Int in
            client.call("GET", "environment")
            return client.status
        }
        #expect(statuses == [502, 500, 500, 502, 502])
        #expect(client.control("GET", "faults")["faults"]?[1]?["struck"] == 3)
        #expect(client.control("DELETE", "faults?id=2")["removed"] == 1)
        client.call("GET", "environment")
        #expect(client.status == 200)
    }

    @Test(arguments: [
        ("/v1/client", "/v1/client/sign_ins", true), ("/v1/client", "/v2", false),
        ("*/attempt_first_factor", "/v1/client/sign_ins/sia_1/attempt_first_factor", true),
        ("*/attempt_first_factor", "/v1/client/sign_ins/sia_1/attempt_first_factor/x", false),
        ("/v1/*/sign_ins*", "/v1/client/sign_ins/x", true), ("/v1/*/sign_ins", "/v1/client/sign_ins/x", false),
        ("*", "", true), ("**", "x", true), ("a*a", "a", false), ("a*b*c", "axxbyyc", true), ("", "/x", true),
    ])
    func patterns(pattern: String, path: String, matches: Bool) {
        #expect(Glob.matches(pattern, path) == matches)
    }

    @Test func methodsAreMatched() throws {
        var client = Harness()
        var fault = SandboxFault(.status, method: "post", path: "/v1/client", times: 0)
        fault.status = 500
        client.world.faults.add(fault)
        client.call("GET", "client")
        #expect(client.status == 200)
        client.call("POST", "client")
        #expect(client.status == 500)
    }

    @Test func headersAndBodies() throws {
        let json = #"{"kind": "status", "status": 200, "body": {"jwt": ""}, "headers": {"X-A": "1\r\nX-B: 2"}}"#
        let client = try struck(json, signIn: false)
        #expect(client.answer.jsonBody == ["jwt": ""])
        let head = String(decoding: client.answer.bytes(now: 0, keepAlive: true, omitBody: false).head, as: UTF8.self)
        #expect(head.contains("X-A: 1 X-B: 2\r\n") || head.contains("X-A: 1  X-B: 2\r\n"))
        #expect(!head.contains("\r\nX-B"))
        let text = try struck(#"{"kind": "empty", "status": 502}"#, signIn: false)
        #expect(text.status == 502 && text.answer.body.isEmpty)
    }

    @Test func wireSteps() {
        let response = SandboxResponse(status: 200, body: Array("0123456789".utf8))
        func steps(
            _ delivery: SandboxReply.Delivery,
            delay: Int64 = 0,
            keepAlive: Bool = true
        ) -> [FaultServer.Reply.Step] {
            SandboxReply(response: response, now: 0, delivery: delivery, delay: delay)
                .steps(keepAlive: keepAlive, omitBody: false).steps
                .filter { $0.kind != .send || !$0.bytes.isEmpty }
        }
        let late = steps(.reset, delay: 3)
        #expect(late.map(\.kind) == [.pause, .reset] && late[0].milliseconds == 3)
        #expect(steps(.hang).map(\.kind) == [.hold] && steps(.close).map(\.kind) == [.finish])
        #expect(steps(.whole).map(\.kind) == [.send])
        #expect(steps(.whole, keepAlive: false).map(\.kind) == [.send, .finish])
        let slow = steps(.trickle(pauseMilliseconds: 2))
        #expect(slow.map(\.kind) == [.send, .trickle])
        #expect(slow[1].bytes == response.body && slow[1].milliseconds == 2)
        let half = steps(.truncated(reset: false))
        #expect(half.map(\.kind) == [.send, .finish] && half[0].bytes.suffix(5).elementsEqual("01234".utf8))
        #expect(steps(.truncated(reset: true)).map(\.kind) == [.send, .pause, .reset])
    }
}
