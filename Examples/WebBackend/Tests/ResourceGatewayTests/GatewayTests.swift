import AuthSandbox
import Foundation
import HTTPRecovery
import ServiceTrials
import Testing

/// The gateway as a process, before a sandbox.
@Suite(.timeLimit(.minutes(5))) struct GatewayTests {
    private let caller = ServiceCaller()

    private func json(_ url: String) async throws -> (status: Int, json: JSONValue) {
        let answer = try await caller.call(url)
        return (answer.status, try JSONValue(parsing: Array(answer.text.utf8)))
    }

    /// Waits for a fact; the suite's time limit is against its never coming.
    private func wait(for fact: () async throws -> Bool) async throws {
        while try await !fact() { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test func resourcesAreReadWithTheServicesOwnToken() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox)
        let (status, resource) = try await json("\(gateway.url)/resources/a")
        #expect(status == 200 && resource["client_id"] == "service" && resource["path"] == "/api/a")
        let (_, both) = try await json("\(gateway.url)/resources?names=b,c,b")
        #expect(both["resources"]?.members?.map(\.key) == ["b", "c"] && both["failed"]?.members?.isEmpty == true)
        // However it is asked for, a name is the same.
        for name in ["a%20b", "caf%C3%A9", "a%2Fb", "50%25"] {
            let (status, alone) = try await json("\(gateway.url)/resources/\(name)")
            let (_, beside) = try await json("\(gateway.url)/resources?names=\(name)")
            #expect(status == 200 && beside["resources"]?.members?.first?.value["path"] == alone["path"], "\(alone)")
        }
        #expect(try await caller.call("\(gateway.url)/resources/%FF").status == 400)
        // A name is one part of a path, whatever it says.
        #expect(try await caller.call("\(gateway.url)/resources/..%2F..%2Foauth%2Ftoken").status == 200)
        #expect(sandbox.requests(path: "/oauth/token").count == 1)
        for step in [".", "..", "%2E%2E", "%2e."] {
            #expect(try await caller.call("\(gateway.url)/resources?names=\(step)").status == 400, "\(step)")
        }
        // What asks may have taken the step already.
        #expect([400, 404].contains(try await caller.call("\(gateway.url)/resources/%2E%2E").status))
        for query in ["", "?names=", "?names=" + (0...20).map(String.init).joined(separator: ",")] {
            #expect(try await caller.call("\(gateway.url)/resources\(query)").status == 400)
        }
    }

    @Test func whatPassesIsNotSeenAndWhatStaysIsToldInHTTPsWords() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox)
        sandbox.add(SandboxFault(.status, path: "/api/once"))
        #expect(try await caller.call("\(gateway.url)/resources/once").status == 200)
        for (name, fault, status, error) in [
            ("none", #""status": 404"#, 404, "not_found"), ("down", #""status": 503"#, 503, "unavailable"),
        ] {
            let match = #""match": {"path": "/api/\#(name)"}"#
            sandbox.add(try SandboxFault(json: #"{"kind": "status", \#(fault), \#(match), "times": 0}"#))
            let answer = try await json("\(gateway.url)/resources/\(name)")
            #expect(answer.status == status && answer.json["error"]?.string == error)
        }
        let (status, both) = try await json("\(gateway.url)/resources?names=none,some")
        #expect(status == 200 && both["resources"]?["some"]?["client_id"] == "service")
        #expect(both["failed"]?["none"]?["error"] == "not_found")
    }

    /// An answer that is too long, or breaks off, is one refusal beside the others, and is logged.
    @Test func anAnswerThatCannotBeReadTakesNoOtherWithIt() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox)
        var huge = SandboxFault(.status, path: "/api/huge", times: 0)
        (huge.status, huge.body) = (200, String(repeating: "x", count: 1 << 21))
        sandbox.add(huge)
        sandbox.add(SandboxFault(.truncate, path: "/api/cut", times: 0))
        let (status, alone) = try await json("\(gateway.url)/resources/huge")
        #expect(status == 502 && alone["error"] == "unreadable")
        try await wait { gateway.lines.contains { $0.contains("An answer cannot be read") && $0.contains("larger") } }
        let (overall, all) = try await json("\(gateway.url)/resources?names=cut,huge,some")
        #expect(overall == 200 && all["resources"]?["some"]?["client_id"] == "service")
        #expect(all["failed"]?["huge"]?["error"] == "unreadable" && all["failed"]?["cut"]?["error"] == "transport")
    }

    /// A Redis that answers late, as one far away or under load does, is waited for.
    @Test func aSlowStoreIsWaitedFor() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let redis = try await RunningService.redis(in: directory)
        let state = ["STATE": "redis+unix://\(directory.path)/redis.sock"]
        let gateway = try await RunningService.gateway(before: sandbox, state)
        redis.send(SIGSTOP)
        async let answer = caller.call("\(gateway.url)/resources/a")
        try await Task.sleep(for: .milliseconds(700))
        redis.send(SIGCONT)
        #expect(try await answer.status == 200)
        redis.send(SIGTERM)
    }

    @Test func aCallUnderWayAtSIGTERMIsAnsweredAndTheGatewayEndsWell() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox)
        sandbox.add(try SandboxFault(json: #"{"kind": "latency", "delay_ms": 1500, "match": {"path": "/api/slow"}}"#))
        async let answer = caller.call("\(gateway.url)/resources/slow")
        try await wait { !sandbox.requests(path: "/api/slow").isEmpty }
        gateway.send(SIGTERM)
        #expect(try await answer.status == 200)
        #expect(await gateway.exit() == 0)
        #expect(gateway.lines.last?.contains("\"Ended\"") == true)
        await #expect(throws: TransportError.self) { try await ServiceCaller().call("\(gateway.url)/health/live") }
    }

    /// Whoever waits for a call that does not end is answered when the drain's time is over.
    @Test func aCallThatHangsEndsWithTheDrain() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let settings = [
            "SHUTDOWN_DRAIN_S": "1", "API_DEADLINE_S": "10m", "API_ATTEMPT_TIMEOUT_S": "5m",
            "API_BREAKER_WINDOW_S": "10m",
        ]
        let gateway = try await RunningService.gateway(before: sandbox, settings)
        sandbox.add(try SandboxFault(json: #"{"kind": "hang", "match": {"path": "/api/never"}, "times": 0}"#))
        async let answer = caller.call("\(gateway.url)/resources/never")
        try await wait { !sandbox.requests(path: "/api/never").isEmpty }
        gateway.send(SIGTERM)
        #expect(try await answer.status == 503)
        #expect(await gateway.exit() == 0)
        #expect(gateway.lines.last?.contains("\"Ended\"") == true)
    }

    @Test func aPolicyThatIsReloadedIsSeenInItsHealthAndOneThatCannotBeReadIsTold() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: "\(directory.path)/gateway.json")
        func write(_ text: String) throws { try Data(text.utf8).write(to: file, options: .atomic) }
        try write("{}")
        let gateway = try await RunningService.gateway(before: sandbox, ["RELOAD_S": "1"], config: file.path)
        func isTold(_ message: String) -> Bool { gateway.lines.contains { $0.contains("\"message\":\"\(message)\"") } }
        func ready() async throws -> (status: Int, breaker: String?) {
            let answer = try await json("\(gateway.url)/health/ready")
            return (answer.status, answer.json["breaker"]?.string)
        }
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 200)
        try write(#"{"api": {"breaker": {"force": "open"}}}"#)
        try await wait { try await ready().status == 503 }
        #expect(try await ready().breaker == "forced_open")
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 503)
        let gauge = "http_recovery_breaker_state{"
        func gauges() async throws -> [Substring] {
            try await caller.call("\(gateway.url)/metrics").text.split(separator: "\n").filter { $0.hasPrefix(gauge) }
        }
        #expect(try await gauges().contains { $0.hasSuffix(" 2") || $0.hasSuffix(" 2.0") })
        try write(#"{"api": {"#)
        try await wait { isTold("The configuration stays as it was") }
        #expect(try await ready().status == 503, "what held before holds")
        try FileManager.default.removeItem(at: file)
        try await wait { gateway.lines.count { $0.contains("The configuration stays as it was") } == 2 }
        try write("{}")
        try await wait { isTold("The configuration can be read again") }
        try await wait { try await ready() == (200, "closed") }
        #expect(try await gauges().allSatisfy { $0.hasSuffix(" 0") || $0.hasSuffix(" 0.0") })
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 200)
    }

    @Test func aBreakerThatAReloadHasTakenAwayIsToldOfNoMore() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: "\(directory.path)/gateway.json")
        func write(_ text: String) throws { try Data(text.utf8).write(to: file, options: .atomic) }
        try write("{}")
        let gateway = try await RunningService.gateway(before: sandbox, ["RELOAD_S": "1"], config: file.path)
        func breaker() async throws -> String? { try await json("\(gateway.url)/health/ready").json["breaker"]?.string }
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 200)
        try write(#"{"api": {"breaker": {"force": "open"}}}"#)
        try await wait { try await breaker() == "forced_open" }
        try write(#"{"api": {"breaker": "off"}}"#)
        try await wait { try await breaker() == "closed" }
    }

    @Test func itSaysThatItIsOnItsWayOutBeforeItIs() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox, ["SHUTDOWN_NOTICE_S": "300"])
        let before = try await json("\(gateway.url)/health/ready")
        #expect(before.status == 200 && before.json["status"] == "ready" && before.json["draining"] == false)
        gateway.send(SIGTERM)
        try await wait { try await caller.call("\(gateway.url)/health/ready").status == 503 }
        #expect(try await json("\(gateway.url)/health/ready").json["draining"] == true)
        #expect(try await caller.call("\(gateway.url)/health/live").status == 200)
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 200, "and answers")
    }

    @Test func itsSuccessorGoesOnWithItsToken() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let settings = ["STATE": "\(directory.path)/state.db", "STATE_KEY": String(repeating: "0f", count: 32)]
        for _ in 0..<2 {
            let gateway = try await RunningService.gateway(before: sandbox, settings)
            #expect(try await caller.call("\(gateway.url)/resources/a").status == 200)
            gateway.send(SIGINT)
            #expect(await gateway.exit() == 0)
        }
        #expect(sandbox.requests(path: "/oauth/token").count == 1)
        // The file holds it sealed.
        let kept = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(kept.contains("state.db"))
        for name in kept {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/\(name)"))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("at_"), "\(name)")
        }
    }

    @Test func eachLineOfItsLogIsAnObjectWithoutASecret() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox, ["LOG_LEVEL": "trace"])
        sandbox.add(SandboxFault(.status, path: "/api/a", times: 2))
        _ = try await caller.call("\(gateway.url)/resources/a?token=query-secret")
        _ = try await caller.call("\(gateway.url)/nothing")
        gateway.send(SIGTERM)
        #expect(await gateway.exit() == 0)
        let lines = gateway.lines
        let objects = try lines.map { try JSONValue(parsing: Array($0.utf8)) }
        for key in ["time", "level", "label", "message"] {
            #expect(objects.allSatisfy { $0[key]?.string?.isEmpty == false })
        }
        #expect(objects.contains { $0["message"] == "HTTP request is sent again" })
        let request = objects.first { $0["message"] == "Request" && $0["url.path"] == "/resources/a" }
        #expect(request?["http.response.status_code"] == "200")
        #expect(objects.contains { $0["url.path"] == "/nothing" && $0["http.response.status_code"] == "404" })
        let secret = RunningService.gatewaySecret
        let basic = Data("service:\(secret)".utf8).base64EncodedString()
        for line in lines {
            #expect(![secret, basic, "query-secret", "Bearer ", "\"at_"].contains { line.contains($0) }, "\(line)")
        }
    }
}
