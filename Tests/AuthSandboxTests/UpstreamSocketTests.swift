import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Forwarding over real sockets", .timeLimit(.minutes(30)))
struct UpstreamSocketTests {
    private static let good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func withProxy(
        _ upstream: String,
        timeout: Duration = .seconds(30),
        _ body: (AuthSandbox) async throws -> Void
    ) async throws {
        let proxy = try await AuthSandbox.start(upstream: SandboxUpstream(upstream, timeout: timeout))
        defer { proxy.stop() }
        try await body(proxy)
    }

    /// Waits for a fact.
    private func wait(until isTrue: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !isTrue() {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Asks once, on a connection that ends then, for all that comes back.
    private func ask(_ proxy: AuthSandbox, _ method: String, _ target: String, _ more: String = "") throws -> String {
        let socket = try #require(RawSocket(port: proxy.port, timeoutMilliseconds: 60_000))
        socket.send("\(method) \(target) HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\(more)\r\n")
        return socket.readToEnd().text
    }

    @Test func aSandboxBehindASandbox() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        try await withProxy(sandbox.url) { proxy in
            let socket = try #require(RawSocket(port: proxy.port))
            for _ in 0..<3 {
                socket.request("GET", "/v1/environment")
                #expect(socket.readAnswer()?.status == 200)
            }
            proxy.add(SandboxFault(.closeAfter, method: "POST"))
            socket.request(
                "POST",
                "/v1/client/sign_ins?_is_native=true",
                form: "identifier=ada%40example.com&password=open-sesame-42"
            )
            #expect(socket.readToEnd() == ("", .closed))
            #expect(sandbox.endSessions(of: "ada@example.com").count == 1)
            #expect(proxy.requests().map(\.isProcessed) == [true, true, true, true])
            #expect(proxy.requests().map(\.connection) == [1, 1, 1, 1])
            #expect(sandbox.requests().map(\.path) == proxy.requests().map(\.path))
            let host = try #require(sandbox.requests().first?.headers.first)
            #expect(host == "host: 127.0.0.1:\(sandbox.port)")
        }
    }

    @Test(arguments: [
        (SandboxFault.Kind.resetBefore, RawSocket.Ending.reset, 0), (.resetAfter, .reset, 1),
        (.closeBefore, .closed, 0), (.closeAfter, .closed, 1), (.truncate, .closed, 1), (.truncateReset, .reset, 1),
        (.garbage, .closed, 0),
    ])
    func whatReachesTheUpstream(kind: SandboxFault.Kind, ending: RawSocket.Ending, count: Int) async throws {
        let upstream = try ScriptedUpstream(.send(Self.good))
        try await withProxy(upstream.url) { proxy in
            proxy.add(SandboxFault(kind))
            let socket = try #require(RawSocket(port: proxy.port))
            socket.request("POST", "/a", json: "{}")
            let (text, end) = socket.readToEnd()
            #expect(end == ending && !text.hasSuffix("ok"))
            #expect(text.hasSuffix("\r\n\r\no") == (kind == .truncate || kind == .truncateReset))
            #expect(upstream.requests.count == count)
            #expect(proxy.requests().map(\.isProcessed) == [count == 1])
        }
    }

    @Test(arguments: [
        (
            "HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 1\r\n\r\nx", "GET",
            "200 Fine", "x"
        ),
        ("HTTP/1.0 201 Created\r\n\r\nuntil the end", "GET", "201 Created", "until the end"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "GET", "200 OK", "abc"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "GET", "503 Busy", ""),
        ("HTTP/1.1 204 No Content\r\n\r\n", "GET", "204 No Content", ""),
        ("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 7\r\n\r\n", "GET", "304 Not Modified", ""),
        ("HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n", "HEAD", "200 OK", ""),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD", "200 OK", ""),
    ])
    func answers(bytes: String, method: String, status: String, body: String) async throws {
        // It stays open: the end of the answer is told by the answer, but for a body that ends with the connection.
        let ends = bytes.hasPrefix("HTTP/1.0")
        let upstream = try ScriptedUpstream(.send(bytes), ends ? .close : .hold)
        try await withProxy(upstream.url + "/prefix") { proxy in
            let text = try ask(proxy, method, "/a?b=c")
            #expect(text.hasPrefix("HTTP/1.1 \(status)\r\n") && text.hasSuffix("\r\n\r\n" + body))
            let lengths = text.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("content-length") }
            let stated = method == "HEAD" || bytes.contains(" 304 ") || bytes.contains(" 204 ")
            let expected = stated ? bytes.split(separator: "\r\n").filter { $0.hasPrefix("Content-Length") } : []
            #expect(lengths == (stated ? expected : ["Content-Length: \(body.utf8.count)"]))
            #expect(!text.contains("Transfer-Encoding"))
            if bytes.contains("Set-Cookie") { #expect(text.contains("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n")) }
            let sent = "\(method) /prefix/a?b=c HTTP/1.1\r\nhost: \(upstream.authority)\r\n"
            #expect(upstream.requests[0].hasPrefix(sent))
        }
    }

    @Test(arguments: [
        ([ScriptedUpstream.Step.send("\u{16}\u{3}\u{1} this is TLS, or so\r\n\r\n")], "upstream_invalid"),
        ([.close], "upstream_closed"), ([.reset], "upstream_closed"),
        ([.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), .close], "upstream_closed"),
        ([.send("HTTP/1.1 200 OK\r\n\r\nhalf of it"), .reset], "upstream_closed"),
        ([.send("HTTP/1.1 200 OK\r\nContent-Length: 17000000\r\n\r\n"), .hold], "upstream_too_long"),
        ([.send("HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 80_000)), .hold], "upstream_too_long"),
    ])
    func badAnswersBecomeABadGateway(steps: [ScriptedUpstream.Step], code: String) async throws {
        let upstream = try ScriptedUpstream { _ in steps }
        try await withProxy(upstream.url) { proxy in
            let text = try ask(proxy, "GET", "/a")
            #expect(text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n") && text.contains("\"error\":\"\(code)\""))
            #expect(upstream.requests.count == 1)
            #expect(proxy.requests().first?.isProcessed == true)
        }
    }

    @Test func nobodyThere() async throws {
        let nobody = try RefusingPort()
        try await withProxy("http://\(nobody.authority)") { proxy in
            let socket = try #require(RawSocket(port: proxy.port))
            // Many at once on one connection, each answered in its turn.
            let count = 500
            socket.send(String(repeating: "GET /a HTTP/1.1\r\n\r\n", count: count - 1))
            socket.send("GET /a HTTP/1.1\r\nConnection: close\r\n\r\n")
            let text = socket.readToEnd().text
            #expect(text.split(separator: "HTTP/1.1 502 Bad Gateway\r\n").count == count)
            #expect(text.contains("connect to \(nobody.authority): Connection refused"))
            #expect(proxy.requests().allSatisfy { !$0.isProcessed && $0.errorCode == "upstream_unreachable" })
        }
    }

    @Test func aHangEndsWithATimeoutAndHoldsNobody() async throws {
        let upstream = try ScriptedUpstream { $0.hasPrefix("GET /hang") ? [.hold] : [.send(Self.good)] }
        // Nobody waits for a request that hangs.
        try await withProxy(upstream.url, timeout: .seconds(3600)) { proxy in
            let hung = try #require(RawSocket(port: proxy.port))
            hung.request("GET", "/hang")
            try await wait { upstream.requests.count == 1 }
            let text = try ask(proxy, "GET", "/other")
            #expect(text.hasSuffix("ok"))
            #expect(proxy.requests().map(\.status) == [0, 200])
        }
        try await wait { upstream.departures == 1 }
        try await withProxy(upstream.url, timeout: .milliseconds(2500)) { proxy in
            let hung = try #require(RawSocket(port: proxy.port, timeoutMilliseconds: 60_000))
            hung.request("GET", "/hang")
            let answer = try #require(hung.readAnswer())
            #expect(answer.status == 504 && answer.body.contains("upstream_timeout") && answer.body.contains("2.5 s"))
            try await wait { upstream.departures == 2 }
            #expect(proxy.requests().first?.isProcessed == true)
            // The connection goes on.
            hung.request("GET", "/other")
            #expect(hung.readAnswer()?.body == "ok")
        }
    }

    /// A trickle that never ends is bounded by the same time.
    @Test func aTrickleEndsToo() async throws {
        let upstream = try ScriptedUpstream(.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), .hold)
        try await withProxy(upstream.url, timeout: .milliseconds(300)) { proxy in
            let text = try ask(proxy, "GET", "/a")
            #expect(text.contains("upstream_timeout"))
        }
    }

    @Test func bodiesGoBothWaysWhole() async throws {
        let count = 3_000_000
        let upstream = try ScriptedUpstream { request in
            let body = request.utf8.firstRange(of: "\r\n\r\n".utf8).map { request[$0.upperBound...] } ?? ""
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")]
        }
        try await withProxy(upstream.url) { proxy in
            let socket = try #require(RawSocket(port: proxy.port, timeoutMilliseconds: 60_000))
            let body = String(repeating: "0123456789", count: count / 10)
            socket.send("POST /a HTTP/1.1\r\nConnection: close\r\nContent-Length: \(count)\r\n\r\n")
            socket.send(body)
            let text = socket.readToEnd().text
            #expect(text.utf8.count > count && text.hasSuffix("\r\n\r\n" + body))
        }
    }

    /// An answer that comes while the body is still on its way counts.
    @Test func anEarlyRefusalIsTaken() async throws {
        let upstream = try ScriptedUpstream(readsBody: false) { _ in
            [.send("HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\n\r\n"), .hold]
        }
        try await withProxy(upstream.url) { proxy in
            let socket = try #require(RawSocket(port: proxy.port, timeoutMilliseconds: 60_000))
            socket.send("POST /a HTTP/1.1\r\nConnection: close\r\nContent-Length: 5000000\r\n\r\n")
            socket.send(String(repeating: "x", count: 5_000_000))
            #expect(socket.readToEnd().text.hasPrefix("HTTP/1.1 413 Too Much\r\n"))
        }
    }

    @Test func aClientThatLeavesDoesNotUndoItsRequest() async throws {
        let upstream = try ScriptedUpstream { $0.hasPrefix("POST /slow") ? [.hold] : [.send(Self.good)] }
        try await withProxy(upstream.url, timeout: .milliseconds(2500)) { proxy in
            do {
                let socket = try #require(RawSocket(port: proxy.port))
                socket.request("POST", "/slow", json: "{}")
                try await wait { upstream.requests.count == 1 }
            }
            try await wait { proxy.requests().first?.status == 504 }
            let text = try ask(proxy, "GET", "/b")
            #expect(text.hasSuffix("ok"))
        }
    }

    @Test func manyAtOnce() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        try await withProxy(sandbox.url) { proxy in
            let sockets = (0..<200).compactMap { _ in RawSocket(port: proxy.port, timeoutMilliseconds: 60_000) }
            for socket in sockets { socket.request("POST", "/v1/client?_is_native=1") }
            #expect(sockets.filter { $0.readAnswer()?.status == 200 }.count == 200)
            #expect(sandbox.requests().count == 200 && proxy.requests().allSatisfy(\.isProcessed))
        }
    }

    @Test func namesAndBothFamilies() async throws {
        let upstream = try ScriptedUpstream(.send(Self.good))
        let port = try #require(upstream.authority.split(separator: ":").last)
        // It may have two addresses, of which one answers.
        try await withProxy("http://localhost:\(port)") { proxy in
            let text = try ask(proxy, "GET", "/a")
            #expect(text.hasSuffix("ok"))
            #expect(upstream.requests[0].contains("host: localhost:\(port)\r\n"))
        }
        guard let six = try? ScriptedUpstream(host: "::1", .send(Self.good)) else {
            return print("NOTE: there is no IPv6 here: it is not tested")
        }
        try await withProxy(six.url) { proxy in
            let text = try ask(proxy, "GET", "/a")
            #expect(text.hasSuffix("ok"))
        }
    }

    @Test func theHostCanBeAnother() async throws {
        let upstream = try ScriptedUpstream(.send(Self.good))
        let proxy = try await AuthSandbox.start(upstream: SandboxUpstream(upstream.url, host: "api.example.com"))
        defer { proxy.stop() }
        _ = try ask(proxy, "GET", "/a")
        #expect(upstream.requests[0].contains("\r\nhost: api.example.com\r\n"))
    }

    @Test func stoppingEndsWhatIsUnderWay() async throws {
        let upstream = try ScriptedUpstream(.hold)
        let proxy = try await AuthSandbox.start(upstream: SandboxUpstream(upstream.url))
        let socket = try #require(RawSocket(port: proxy.port))
        socket.request("GET", "/a")
        try await wait { upstream.requests.count == 1 }
        proxy.stop()
        try await wait { upstream.departures == 1 }
        #expect(socket.readToEnd().ending != .silent)
    }

    @Test func whatCannotBeStarted() async throws {
        let error = await #expect(throws: SandboxError.self) {
            try await AuthSandbox.start(upstream: SandboxUpstream("http://nowhere.invalid"))
        }
        #expect(error?.code == .cannotResolve)
        let sandbox = try await AuthSandbox.start()
        sandbox.stop()
        let port = sandbox.port
        for host in ["127.0.0.1", "0.0.0.0"] {
            let loop = await #expect(throws: SandboxError.self) {
                try await AuthSandbox.start(
                    listen: "\(host):\(port)",
                    upstream: SandboxUpstream("http://127.0.0.1:\(port)")
                )
            }
            #expect(loop?.code == .invalidInput)
        }
    }

    @Test func longBodiesCanTrickle() async throws {
        let upstream = try ScriptedUpstream(
            .send("HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + String(repeating: "x", count: 4_000_000))
        )
        try await withProxy(upstream.url) { proxy in
            var fault = SandboxFault(.trickle)
            fault.delay = 1
            proxy.add(fault)
            let socket = try #require(RawSocket(port: proxy.port))
            socket.request("GET", "/a")
            try await wait { proxy.requests().first?.status == 200 }
            let text = try ask(proxy, "GET", "/_sandbox/requests")
            #expect(text.contains("\"fault\": \"trickle\""))
        }
    }
}
