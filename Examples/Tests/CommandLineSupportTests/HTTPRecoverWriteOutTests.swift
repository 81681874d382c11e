import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What the built program writes about a call when it has ended.
@Suite("http-recover: -w and --timings", .timeLimit(.minutes(30)))
struct HTTPRecoverWriteOutTests {
    private static func run(_ arguments: [String]) async throws -> RunningProgram.Result {
        var result: RunningProgram.Result?
        try await withTemporaryDirectory { result = try await RunningProgram.httpRecover(arguments, in: $0).result() }
        return try #require(result)
    }

    private static func url(_ server: FaultServer, _ path: String = "/") -> String {
        "http://\(server.authority)\(path)"
    }

    @Test func theTextStandsBehindTheBody() async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "0")]), .answer(body: "hello"))
        let format = """
            \\n%{http_code} %{size_download} %{num_retries} %{num_connects} %{http_version} %{remote_ip}:%{remote_port} \
            %{method} %{scheme} %{exitcode} [%{errormsg}] %{url_effective}%{stderr}aside
            """
        let result = try await Self.run(["-w", format, Self.url(server, "/a?b=c")])
        #expect(result.status == 0)
        let place = "127.0.0.1:\(server.port)"
        #expect(result.output == "hello\n200 5 1 0 1.1 \(place) GET http 0 [] \(Self.url(server, "/a?b=c"))")
        #expect(result.errors.hasSuffix("aside"))
    }

    @Test func timesAreInOrder() async throws {
        let server = try FaultServer(.answer())
        let format = "%{time_connect} %{time_pretransfer} %{time_starttransfer} %{time_total}"
        let result = try await Self.run(["-w", format, Self.url(server)])
        let times = result.output.split(separator: " ").compactMap { Double($0) }
        #expect(times.count == 4 && times == times.sorted() && times.allSatisfy { $0 > 0 }, "\(result.output)")
    }

    @Test func aFailedCallWritesToo() async throws {
        let port = try RefusingPort()
        let arguments = ["--max-attempts", "1", "-w", "%{http_code} %{exitcode} %{num_connects} %{errormsg}"]
        let result = try await Self.run(arguments + ["http://\(port.authority)/"])
        #expect(result.status == 7)
        #expect(result.output.hasPrefix("000 7 0 GET http://\(port.authority)/: "), "\(result.output)")
    }

    @Test func severalCallsWriteOneTextEach() async throws {
        let server = try FaultServer { $0.path == "/b" ? .answer(404) : .answer() }
        let arguments = ["-w", "%{url} %{http_code}\\n", Self.url(server, "/a"), Self.url(server, "/b")]
        let result = try await Self.run(arguments)
        #expect(result.status == 22)
        #expect(result.output == "\(Self.url(server, "/a")) 200\n\(Self.url(server, "/b")) 404\n")
    }

    @Test func anUnknownVariableIsNamed() async throws {
        let server = try FaultServer(.answer(body: "x"))
        let result = try await Self.run(["-w", "%{nonsense}", Self.url(server)])
        #expect(result.status == 0 && result.output == "x")
        #expect(result.errors == "http-recover: unknown --write-out variable: 'nonsense'\n")
    }

    @Test func theFormatMayStandInAFile() async throws {
        let server = try FaultServer(.answer(body: "x"))
        try await withTemporaryDirectory { directory in
            let path = directory + "/format"
            try write("\\n%{http_code}\\n", to: path)
            let arguments = ["-w", "@\(path)", Self.url(server)]
            let result = try await RunningProgram.httpRecover(arguments, in: directory).result()
            #expect(result.output == "x\n200\n")
            let missing = try await RunningProgram.httpRecover(["-w", "@\(path)2", Self.url(server)], in: directory)
                .result()
            #expect(missing.status == 65)
            #expect(server.receivedRequests.count == 1)
        }
    }

    @Test func theServerCannotSteerTheTerminal() async throws {
        let server = try FaultServer(.answer(headers: [("Content-Type", "a\u{1B}[2Jb")]))
        let result = try await Self.run(["-w", "%{content_type}|%header{content-type}", Self.url(server)])
        #expect(result.output == "a [2Jb|a [2Jb")
    }

    @Test func thePhasesOfEachAttemptAreTold() async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "0")]), .reset, .answer(body: "hello"))
        let result = try await Self.run(["--timings", "--quiet", Self.url(server)])
        #expect(result.status == 0 && result.output == "hello")
        let lines = result.errors.split(separator: "\n")
        let heads = lines.filter { $0.hasPrefix("attempt ") }
        try #require(heads.count == 3, "\(result.errors)")
        #expect(heads[0].hasPrefix("attempt 1: HTTP 503, HTTP/1.1, new connection to 127.0.0.1:\(server.port) from "))
        // The connection of the first, on which the server reset the second; what libcurl opened to send it again carried none.
        #expect(heads[1].hasPrefix("attempt 2: connection_lost, used connection to 127.0.0.1:\(server.port) from "))
        #expect(heads[0].split(separator: " from ").last == heads[1].split(separator: " from ").last)
        #expect(heads[2].hasPrefix("attempt 3: HTTP 200, HTTP/1.1, new connection to "))
        for name in ["waited", "name lookup", "connection", "request", "first byte", "end"] {
            let count = ["name lookup", "connection", "first byte"].contains(name) ? 2 : 3
            #expect(lines.filter { $0.hasPrefix("  \(name) ") && $0.hasSuffix(" ms") }.count == count, "\(name)")
        }
        #expect(!result.errors.contains("TLS"))
    }

    @Test func whatAnotherTransportMeasuresIsToldToo() async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "0")]), .reset, .answer(body: "hello"))
        let arguments = ["--transport", "ahc", "--timings", "--quiet", "-i", "-w", "%{http_version} %{size_download}"]
        let result = try await Self.run(arguments + [Self.url(server)])
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("HTTP/1.1 200") && result.output.hasSuffix("hello1.1 5"), "\(result.output)")
        let heads = result.errors.split(separator: "\n").filter { $0.hasPrefix("attempt ") }
        try #require(heads.count == 3, "\(result.errors)")
        #expect(heads[0].hasPrefix("attempt 1: HTTP 503, HTTP/1.1, new connection to 127.0.0.1:\(server.port) from "))
        #expect(heads[1].contains("connection_lost, HTTP/1.1, "))
    }
}
