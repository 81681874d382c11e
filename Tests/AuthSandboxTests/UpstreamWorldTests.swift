import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

/// A client of a sandbox that forwards, without a socket.
private struct Forwarding {
    var world: SandboxWorld
    let now: Int64 = 1_800_000_000_000
    /// What reached the upstream.
    var sent: [String] = []
    /// What the upstream answers.
    var outcome = UpstreamOutcome(
        result: .success(
            SandboxResponse(
                status: 200,
                headers: [.init(name: "Set-Cookie", value: "a=1"), .init(name: "Set-Cookie", value: "b=2")],
                body: Array(#"{"true": 1}"#.utf8)
            )
        ),
        wasSent: true
    )
    var lines: [String] = []

    init(_ faults: String..., seed: UInt64 = 3) throws {
        var scenario = SandboxScenario(users: [])
        scenario.faults = try faults.map { try SandboxFault(json: $0) }
        world = SandboxWorld(
            scenario: scenario,
            seed: seed,
            wallNow: now,
            providers: [],
            upstream: try SandboxUpstream("http://up")
        )
    }

    @discardableResult
    mutating func send(
        _ method: String,
        _ target: String,
        _ headers: [(String, String)] = [],
        body: String = ""
    ) -> SandboxReply {
        let request = SandboxRequest(
            method: method,
            target: target,
            headers: headers.map { .init(name: $0.0, value: $0.1) },
            body: Array(body.utf8)
        )
        let (action, lines) = world.receive(request, wallNow: now)
        self.lines += lines
        switch action {
        case .reply(let reply): return reply
        case .forward(let call): return complete(call)
        }
    }

    /// Sends a request whose answer is not there yet.
    mutating func begin(_ target: String) -> ForwardedCall? {
        let (action, _) = world.receive(SandboxRequest(method: "GET", target: target), wallNow: now)
        guard case .forward(let call) = action else { return nil }
        return call
    }

    mutating func complete(_ call: ForwardedCall) -> SandboxReply {
        sent.append(String(decoding: call.bytes, as: UTF8.self))
        let (reply, lines) = world.complete(call, outcome, wallNow: now)
        self.lines += lines
        return reply
    }
}

@Suite("A sandbox before an upstream")
struct UpstreamWorldTests {
    @Test func theAnswerComesBackAsItIs() throws {
        var client = try Forwarding()
        let reply = client.send("GET", "/a?b=1")
        guard case .success(let response) = client.outcome.result else { return }
        #expect(reply.response == response && reply.delivery == .whole && reply.delay == 0)
        let head = String(decoding: reply.response.bytes(now: 0, keepAlive: true, omitBody: false).head, as: UTF8.self)
        #expect(head.contains("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n"))
        let record = try #require(client.world.log.records.last)
        #expect(record.status == 200 && record.isProcessed && record.fault == nil)
        #expect(client.lines == ["GET /a -> 200"])
    }

    /// Every kind there is; before or after the upstream has had its say.
    @Test(
        arguments: [
            ("status", false, .whole, 503), ("envelope", false, .whole, 400), ("html", false, .whole, 502),
            ("empty", false, .whole, 500), ("latency", true, .whole, 200),
            ("trickle", true, .trickle(pauseMilliseconds: 7), 200), ("truncate", true, .truncated(reset: false), 200),
            ("truncate_reset", true, .truncated(reset: true), 200), ("reset_before", false, .reset, 0),
            ("reset_after", true, .reset, 0), ("close_before", false, .close, 0), ("close_after", true, .close, 0),
            ("hang", false, .hang, 0), ("garbage", false, .raw(Array("\u{1}\u{2}this is not HTTP\r\n\r\n".utf8)), 503),
            ("rotate_token", true, .whole, 200),
        ] as [(String, Bool, SandboxReply.Delivery, Int)]
    )
    func faults(kind: String, reaches: Bool, delivery: SandboxReply.Delivery, status: Int) throws {
        #expect(SandboxFault.Kind.all.count == 15)
        for forced in [nil, true, false] {
            let more = forced.map { #", "processed": \#($0)"# } ?? ""
            var client = try Forwarding(#"{"kind": "\#(kind)", "delay_ms": 7\#(more)}"#)
            let reply = client.send("POST", "/a", body: "x")
            #expect(client.sent.count == (forced ?? reaches ? 1 : 0))
            #expect(reply.delivery == delivery)
            #expect(reply.delay == (kind == "trickle" ? 0 : 7))
            let record = try #require(client.world.log.records.last)
            #expect(record.isProcessed == (forced ?? reaches) && record.fault == kind)
            #expect(client.world.log.counts["POST /a"] == .init(received: 1, processed: forced ?? reaches ? 1 : 0))
            if forced == nil { #expect(record.status == status) }
            if forced ?? reaches, reaches {
                #expect(reply.response.body == Array(#"{"true": 1}"#.utf8))
            } else {
                #expect(reply.response.body != Array(#"{"true": 1}"#.utf8) || !reply.isAnswered || kind == "garbage")
            }
            // It was the only one.
            #expect(client.send("POST", "/a").response.status == 200)
        }
    }

    @Test func matchingCountingAndSkipping() throws {
        var client = try Forwarding(
            #"{"kind": "status", "status": 500, "match": {"method": "POST", "path": "*/b"}, "skip": 1, "times": 2}"#,
            #"{"kind": "status", "status": 429, "match": {"grant": "refresh_token"}, "retry_after": 3}"#
        )
        let statuses = ["/a", "/a/b", "/a/b", "/a/b", "/a/b"].map { client.send("POST", $0).response.status }
        #expect(statuses == [200, 200, 500, 500, 200])
        let form = [("content-type", "application/x-www-form-urlencoded")]
        #expect(client.send("POST", "/any/token", form, body: "grant_type=password").response.status == 200)
        let refused = client.send("POST", "/any/token", form, body: "grant_type=refresh_token&refresh_token=r-secret")
        #expect(refused.response.status == 429 && refused.response.header("Retry-After") == "3")
        #expect(refused.response.jsonBody?["error"] == "temporarily_unavailable")
        #expect(client.world.log.records.map(\.grant).suffix(2) == ["unsupported", "refresh_token"])
    }

    @Test(
        arguments: [
            (nil, "Bearer realm=\"auth-sandbox\", error=\"invalid_token\""), ("x", "Basic"),
        ] as [(String?, String)]
    )
    func aRefusalFitsTheRequest(grant: String?, challenge: String) throws {
        var client = try Forwarding(#"{"kind": "status", "status": 401}"#)
        let headers = [("content-type", "application/x-www-form-urlencoded")]
        let reply = client.send("POST", "/a", headers, body: grant.map { "grant_type=\($0)" } ?? "")
        #expect(reply.response.header("WWW-Authenticate")?.hasPrefix(challenge) == true)
    }

    @Test func secretsOfAnyServerAreMasked() throws {
        var client = try Forwarding()
        let names = [
            "authorization", "cookie", "x-api-key", "apikey", "x-amz-security-token", "x-vault-token", "x-session-id",
            "x-secret", "proxy-authorization", "x-hub-signature", "private-token", "x-jwt-claims",
        ]
        let headers = names.enumerated().map { ($1, "hidden-\($0)") } + [("content-type", "application/json")]
        let body = #"{"pin": "hidden-b", "deep": {"x": "hidden-d"}}"#
        client.send("POST", "/a?code=hidden-q&limit=5", headers, body: body)
        client.outcome.result = .failure(UpstreamFailure(.closed, "x"))
        client.send("GET", "/b", [("cookie", "hidden-c")])
        let view = client.send("GET", "/_sandbox/requests").response
        let text = String(decoding: view.body, as: UTF8.self) + client.lines.joined()
        #expect(!text.contains("hidden-") && text.contains("limit=5") && text.contains("pin=***"))
        #expect(client.sent[0].contains("hidden-q") && client.sent[0].contains("hidden-b"))
    }

    @Test(arguments: [
        (UpstreamFailure(.unreachable, "no way"), false, 502), (UpstreamFailure(.invalid, "no way"), true, 502),
        (UpstreamFailure(.timeout, status: 504, "no way"), true, 504),
    ])
    func failuresAreTold(failure: UpstreamFailure, wasSent: Bool, status: Int) throws {
        var client = try Forwarding()
        client.outcome = UpstreamOutcome(result: .failure(failure), wasSent: wasSent)
        let reply = client.send("GET", "/a")
        #expect(reply.response.status == status)
        #expect(reply.response.header("Content-Type") == "application/json")
        #expect(reply.response.jsonBody?["error"]?.string == failure.code.rawValue)
        #expect(reply.response.jsonBody?["error_description"]?.string?.hasSuffix("no way") == true)
        let record = try #require(client.world.log.records.last)
        #expect(record.isProcessed == wasSent && record.status == status && record.errorCode == failure.code.rawValue)
        // A fault strikes it all the same.
        client.world.faults.add(SandboxFault(.resetAfter))
        #expect(client.send("GET", "/a").delivery == .reset)
    }

    @Test func aRequestStandsInTheLogBeforeItsAnswer() throws {
        var client = try Forwarding()
        let calls = [client.begin("/1"), client.begin("/2")]
        let first = try #require(calls[0])
        let second = try #require(calls[1])
        #expect(client.world.log.records.map(\.status) == [0, 0])
        _ = client.complete(second)
        #expect(client.world.log.records.map(\.status) == [0, 200])
        #expect(client.world.log.records.map(\.isProcessed) == [false, true])
        #expect(client.world.log.records.map(\.path) == ["/1", "/2"])
        // What was forgotten meanwhile does not come back, and strikes no other.
        for path in ["requests", "reset"] {
            client.send(path == "reset" ? "POST" : "DELETE", "/_sandbox/\(path)")
            _ = client.begin("/3")
            _ = client.complete(first)
            #expect(client.world.log.records.map(\.status) == [0] && client.world.log.total == 1)
        }
        #expect(client.lines == ["GET /2 -> 200"])
    }

    @Test func aRotatedTokenStandsForTheOldOne() throws {
        func rotated(_ seed: UInt64) throws -> String? {
            var client = try Forwarding(#"{"kind": "rotate_token"}"#, seed: seed)
            let fresh = client.send("GET", "/a", [("authorization", "aa.bb.cc")]).response.header("Authorization")
            client.send("GET", "/a", [("authorization", fresh ?? "")])
            client.send("GET", "/a", [("authorization", "Bearer " + (fresh ?? ""))])
            #expect(client.sent[1].contains("authorization: aa.bb.cc\r\n"))
            #expect(client.sent[2].contains("authorization: Bearer aa.bb.cc\r\n"))
            // The token of an answer goes before that of the request; a rotated one can be rotated again.
            client.world.faults.add(SandboxFault(.rotateToken))
            guard case .success(let kept) = client.outcome.result else { return nil }
            var response = kept
            response.setHeader("Authorization", "opaque")
            client.outcome.result = .success(response)
            let second = client.send("GET", "/a", [("authorization", fresh ?? "")]).response.header("Authorization")
            client.send("GET", "/a", [("authorization", second ?? "")])
            #expect(client.sent[4].contains("authorization: opaque\r\n"))
            client.outcome.result = .success(kept)
            client.world.faults.add(SandboxFault(.rotateToken))
            #expect(client.send("GET", "/a").response.header("Authorization") == nil)
            return fresh
        }
        let token = try #require(try rotated(1))
        #expect(token.hasPrefix("aa.bb.") && token != "aa.bb.cc")
        #expect(try rotated(1) == token)
        #expect(try rotated(2) != token)
    }

    @Test func onlyWhatHelpsIsThere() throws {
        var client = try Forwarding()
        let index = client.send("GET", "/_sandbox/").response.jsonBody
        guard case .object(let members)? = index else { return #expect(Bool(false)) }
        #expect(members.count == 10)
        for member in members {
            let words = member.key.split(separator: " ")
            let path = String(words[1].prefix { $0 != "?" })
            let body = ["/_sandbox/clock": #"{"advance_s": 1}"#, "/_sandbox/faults": #"{"kind": "hang"}"#][path]
            #expect(client.send(String(words[0]), path, body: body ?? "").response.status == 200)
        }
        for path in ["users", "outbox", "settings", "okta", "totp?user=ada@example.com"] {
            let reply = client.send("GET", "/_sandbox/\(path)")
            #expect(reply.response.status == 404)
            #expect(reply.response.jsonBody?["error"]?.string?.contains("http://up") == true)
        }
        #expect(client.sent.isEmpty)
    }

    @Test func theClockIsThatOfTheSandbox() throws {
        var client = try Forwarding(#"{"kind": "status", "status": 503, "retry_after": "date:10"}"#)
        client.send("POST", "/_sandbox/clock", body: #"{"advance_s": 3600}"#)
        #expect(client.send("GET", "/a").response.header("Retry-After") == "Fri, 15 Jan 2027 09:00:10 GMT")
        #expect(client.world.log.records.last?.receivedAt == client.now + 3_600_000)
    }
}
