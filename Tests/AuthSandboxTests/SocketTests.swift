import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Over a real socket", .timeLimit(.minutes(30)))
struct SocketTests {
    private static let signInForm = "identifier=ada%40example.com&password=open-sesame-42"

    private func withSandbox(
        _ scenario: SandboxScenario = .unlimited,
        _ body: (AuthSandbox) throws -> Void
    ) async throws {
        let sandbox = try await AuthSandbox.start(scenario: scenario)
        defer { sandbox.stop() }
        try body(sandbox)
    }

    @Test func answersManyRequestsOnOneConnection() async throws {
        try await withSandbox { sandbox in
            #expect(sandbox.url == "http://127.0.0.1:\(sandbox.port)" && sandbox.port > 0)
            let socket = try #require(RawSocket(port: sandbox.port))
            for _ in 0..<3 {
                socket.request("GET", "/v1/environment")
                let answer = try #require(socket.readAnswer())
                #expect(answer.status == 200 && answer.head.contains("Connection: keep-alive"))
            }
            socket.request("POST", "/v1/client/sign_ins?_is_native=true", form: Self.signInForm)
            let answer = try #require(socket.readAnswer())
            #expect(answer.status == 200 && answer.head.contains("Authorization: ey"))
            socket.send("GET /v1/environment HTTP/1.1\r\nConnection: close\r\n\r\n")
            #expect(socket.readToEnd().ending == .closed)
            #expect(Set(sandbox.requests().map(\.connection)) == [1])
        }
    }

    /// What a request is judged by: were it dated too early, what had ended before it was sent would be good again.
    @Test func bytesAreDatedByTheirArrivalAndNotByTheirReading() throws {
        let arrivals = Locked([Int64?]())
        let server = try SocketServer(.loopback) { connection, _ in
            while connection.read() != nil { arrivals.withLock { $0.append(connection.arrival) } }
        }
        defer { server.stop() }
        let socket = try #require(RawSocket(port: server.address.port))
        func next(after count: Int) -> Int64? {
            while arrivals.withLock({ $0.count == count }) {}
            return arrivals.withLock { $0[count] }
        }
        // The kernel begins to date soon after it is asked to.
        var count = 0
        repeat {
            socket.send("x")
            count += 1
        } while next(after: count - 1) == nil
        for _ in 0..<100 {
            let before = Timestamp.system().milliseconds
            socket.send("y")
            let after = Timestamp.system().milliseconds
            while Timestamp.system().milliseconds < after + 3 {}
            let arrival = try #require(next(after: count))
            count += 1
            #expect((before...after).contains(arrival))
        }
    }

    @Test func twoRequestsAtOnceAreAnsweredInOrder() async throws {
        try await withSandbox { sandbox in
            let socket = try #require(RawSocket(port: sandbox.port))
            socket.send("GET /v1/environment HTTP/1.1\r\n\r\nGET /v1/none HTTP/1.1\r\nConnection: close\r\n\r\n")
            let text = socket.readToEnd().text
            let first = try #require(text.firstRange(of: "HTTP/1.1 200"))
            let second = try #require(text.firstRange(of: "HTTP/1.1 404"))
            #expect(first.lowerBound < second.lowerBound)
        }
    }

    @Test(arguments: [
        (SandboxFault.Kind.resetBefore, RawSocket.Ending.reset, 0), (.resetAfter, .reset, 1),
        (.closeBefore, .closed, 0), (.closeAfter, .closed, 1),
    ])
    func connectionsEndWithoutAnAnswer(kind: SandboxFault.Kind, ending: RawSocket.Ending, sessions: Int) async throws {
        try await withSandbox { sandbox in
            sandbox.add(SandboxFault(kind, method: "POST"))
            let socket = try #require(RawSocket(port: sandbox.port))
            socket.request("POST", "/v1/client/sign_ins?_is_native=true", form: Self.signInForm)
            let (text, end) = socket.readToEnd()
            #expect(text.isEmpty && end == ending)
            #expect(sandbox.requests().map(\.isProcessed) == [sessions == 1])
            #expect(sandbox.endSessions(of: "ada@example.com").count == sessions)
        }
    }

    @Test(arguments: [(SandboxFault.Kind.truncate, RawSocket.Ending.closed), (.truncateReset, .reset)])
    func bodiesEndInTheMiddle(kind: SandboxFault.Kind, ending: RawSocket.Ending) async throws {
        try await withSandbox { sandbox in
            sandbox.add(SandboxFault(kind))
            let socket = try #require(RawSocket(port: sandbox.port))
            socket.request("GET", "/v1/environment")
            let (text, end) = socket.readToEnd()
            #expect(end == ending && text.hasPrefix("HTTP/1.1 200 OK"))
            let body = text.utf8.firstRange(of: "\r\n\r\n".utf8).map { text[$0.upperBound...].utf8.count } ?? 0
            #expect(body > 100 && !text.contains("maintenance_mode"))
        }
    }

    @Test func hangingHoldsNobodyElse() async throws {
        try await withSandbox { sandbox in
            sandbox.add(SandboxFault(.hang))
            let hung = try #require(RawSocket(port: sandbox.port, timeoutMilliseconds: 200))
            hung.request("GET", "/v1/environment")
            let other = try #require(RawSocket(port: sandbox.port))
            // Only the first request is struck; wait until it is.
            while sandbox.requests().isEmpty { usleep(5000) }
            other.request("GET", "/v1/environment")
            #expect(other.readAnswer()?.status == 200)
            #expect(hung.readToEnd().ending == .silent)
        }
    }

    @Test func answersCanBeLateWhileOthersAreNot() async throws {
        try await withSandbox { sandbox in
            var fault = SandboxFault(.latency, path: "/v1/environment")
            fault.delay = 300
            sandbox.add(fault)
            let late = try #require(RawSocket(port: sandbox.port))
            let clock = ContinuousClock()
            let start = clock.now
            late.request("GET", "/v1/environment")
            let other = try #require(RawSocket(port: sandbox.port))
            other.request("GET", "/v1/client")
            #expect(other.readAnswer()?.status == 200)
            #expect(late.readAnswer()?.status == 200)
            #expect(clock.now - start >= .milliseconds(299))
        }
    }

    @Test func faultsAndCodesOverHTTP() async throws {
        try await withSandbox { sandbox in
            let socket = try #require(RawSocket(port: sandbox.port))
            socket.request("POST", "/_sandbox/faults", json: #"{"kind": "status", "status": 429, "retry_after": 7}"#)
            #expect(socket.readAnswer()?.status == 200)
            socket.request("GET", "/v1/environment")
            let answer = try #require(socket.readAnswer())
            #expect(answer.status == 429 && answer.head.contains("Retry-After: 7"))
            let form = "identifier=barbara%40example.com&strategy=email_code"
            socket.request("POST", "/v1/client/sign_ins?_is_native=1", form: form)
            #expect(socket.readAnswer()?.status == 200)
            let code = try #require(sandbox.outbox(to: "barbara@example.com").last?.code)
            socket.request("GET", "/_sandbox/outbox?to=barbara@example.com")
            #expect(socket.readAnswer()?.body.contains(code) == true)
        }
    }

    @Test func garbageTrickleAndHead() async throws {
        try await withSandbox { sandbox in
            sandbox.add(SandboxFault(.garbage))
            var socket = try #require(RawSocket(port: sandbox.port))
            socket.request("GET", "/v1/client")
            #expect(socket.readToEnd().text.hasPrefix("\u{1}\u{2}"))
            var trickle = SandboxFault(.trickle)
            trickle.delay = 1
            sandbox.add(trickle)
            socket = try #require(RawSocket(port: sandbox.port))
            socket.request("GET", "/v1/client")
            #expect(socket.readAnswer()?.body == #"{"response":null,"client":null}"#)
            socket.send("HEAD /v1/client HTTP/1.1\r\nConnection: close\r\n\r\n")
            #expect(socket.readToEnd().text.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func hostileBytesAreRefused() async throws {
        try await withSandbox { sandbox in
            for text in [
                "\u{16}\u{3}\u{1}\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET /" + String(repeating: "a", count: 80_000),
            ] {
                let socket = try #require(RawSocket(port: sandbox.port))
                socket.send(text)
                #expect(socket.readToEnd().text.hasPrefix("HTTP/1.1 4"))
            }
            let socket = try #require(RawSocket(port: sandbox.port))
            socket.send("POST /v1/client HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n")
            socket.send("Content-Type: application/x-www-form-urlencoded\r\n\r\n")
            #expect(socket.readAnswer()?.status == 100)
            socket.send("a=b")
            #expect(socket.readAnswer()?.status == 200)
        }
    }

    @Test func twoHundredConnectionsAtOnce() async throws {
        try await withSandbox { sandbox in
            let sockets = (0..<200).compactMap { _ in RawSocket(port: sandbox.port) }
            for socket in sockets { socket.request("POST", "/v1/client?_is_native=1") }
            #expect(sockets.filter { $0.readAnswer()?.status == 200 }.count == 200)
            #expect(Set(sandbox.requests().map(\.connection)).count == 200)
        }
    }

    @Test func stoppingEndsEverything() async throws {
        let sandbox = try await AuthSandbox.start()
        let port = sandbox.port
        let idle = try #require(RawSocket(port: port))
        idle.request("GET", "/v1/client")
        #expect(idle.readAnswer()?.status == 200)
        sandbox.stop()
        sandbox.stop()
        #expect(idle.readToEnd().ending != .silent)
        #expect(RawSocket(port: port) == nil)
    }

    @Test(arguments: ["nonsense", "127.0.0.1", "127.0.0.1:x", "example.com:1", "127.0.0.1:99999", ":1"])
    func addressesThatAreNone(text: String) async {
        await #expect(throws: SandboxError.self) { try await AuthSandbox.start(listen: text) }
    }

    @Test func anAddressThatIsTaken() async throws {
        let sandbox = try await AuthSandbox.start(listen: "localhost:0")
        defer { sandbox.stop() }
        let error = await #expect(throws: SandboxError.self) {
            try await AuthSandbox.start(listen: "127.0.0.1:\(sandbox.port)")
        }
        #expect(error?.code == .cannotListen)
    }

    @Test func sameSeedSameAnswers() async throws {
        func code(_ seed: UInt64) async throws -> String? {
            let sandbox = try await AuthSandbox.start(seed: seed)
            defer { sandbox.stop() }
            let socket = try #require(RawSocket(port: sandbox.port))
            let form = "identifier=barbara%40example.com&strategy=email_code"
            socket.request("POST", "/v1/client/sign_ins?_is_native=1", form: form)
            _ = socket.readAnswer()
            return sandbox.outbox().last?.code
        }
        let first = try await code(4)
        #expect(try await code(4) == first && first != nil)
        #expect(try await code(5) != first)
    }
}
