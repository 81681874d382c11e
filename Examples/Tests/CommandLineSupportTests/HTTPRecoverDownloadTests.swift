import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

/// What the built program does with bodies that come in pieces, or twice.
@Suite("http-recover's downloads", .timeLimit(.minutes(30)))
struct HTTPRecoverDownloadTests {
    private static let whole = "0123456789abcdefghij"

    /// Serves the text by ranges, and breaks off behind the first 6 bytes of each of the first answers.
    private static func server(breaking count: Int, tag: String = #""v1""#) throws -> FaultServer {
        let answers = Counter()
        return try FaultServer { request in
            let number = answers.next()
            let range = request.headers[.range].flatMap { Int($0.dropFirst(6).dropLast()) }
            let first = request.headers[.ifRange].map { $0 == tag } ?? true ? range ?? 0 : 0
            guard first < whole.utf8.count else {
                return .answer(416, headers: [("Content-Range", "bytes */\(whole.utf8.count)")])
            }
            let body = whole.dropFirst(first)
            var head = "HTTP/1.1 \(first > 0 ? 206 : 200) OK\r\nETag: \(tag)\r\nContent-Length: \(body.utf8.count)\r\n"
            if first > 0 { head += "Content-Range: bytes \(first)-\(whole.utf8.count - 1)/\(whole.utf8.count)\r\n" }
            guard number <= count else { return .raw(head + "\r\n\(body)") }
            return .raw(head + "\r\n\(body.prefix(6))").then(.close)
        }
    }

    private static func url(_ server: FaultServer) -> String { "http://\(server.authority)/" }

    @Test func aBrokenDownloadGoesOnWhereItBroke() async throws {
        let server = try Self.server(breaking: 2)
        try await withTemporaryDirectory { directory in
            let file = directory + "/file"
            let result = try await RunningProgram.httpRecover(["-C", "-", "-o", file, Self.url(server)], in: directory)
                .result()
            #expect(result.status == 0 && contents(of: file) == Self.whole)
            #expect(server.receivedRequests.map { $0.headers[.range] } == [nil, "bytes=6-", "bytes=12-"])
            #expect(result.all("retry", "reason").compactMap(\.string) == ["transport", "transport"])
        }
    }

    @Test func aLaterRunGoesOnAndOneThatIsWholeIsLeft() async throws {
        let server = try Self.server(breaking: 1)
        try await withTemporaryDirectory { directory in
            let file = directory + "/file"
            let options = ["--max-attempts", "1", "-C", "-", "-o", file, Self.url(server)]
            for (status, text) in [(56, String(Self.whole.prefix(6))), (0, Self.whole), (0, Self.whole)]
                as [(Int32, String)]
            {
                let result = try await RunningProgram.httpRecover(options, in: directory).result()
                #expect(result.status == status && contents(of: file) == text)
            }
            #expect(server.receivedRequests.map { $0.headers[.range] } == [nil, "bytes=6-", "bytes=20-"])
        }
    }

    @Test func aPipeGetsEachByteOnce() async throws {
        let server = try Self.server(breaking: 2)
        let result = try await RunningProgram.httpRecover("-C", "-", Self.url(server))
        #expect(result.status == 0 && result.output == Self.whole)
    }

    @Test func anErrorLeavesWhatIsThereAndNoEmptyFile() async throws {
        let server = try FaultServer(.answer(404, body: "no"))
        try await withTemporaryDirectory { directory in
            for before in ["part", nil] {
                let file = directory + "/\(before ?? "none")"
                if let before { try write(before, to: file) }
                let options = ["-C", "-", "-o", file, Self.url(server)]
                #expect(try await RunningProgram.httpRecover(options, in: directory).result().status == 22)
                #expect(contents(of: file) == before ?? "" && names(in: directory).contains("none") == false)
            }
        }
    }

    @Test(arguments: [
        ["-C", "5"], ["-C", "-", "-d", "a=1"], ["-C", "-", "--repeat", "2"], ["-C", "-", "--hedge", "1"],
        ["-C", "-", "-H", "Range: bytes=0-1"], ["--idle-timeout", "30"], ["--idle-timeout", "0"],
    ])
    func whatCannotBeIsRefused(options: [String]) async throws {
        let server = try FaultServer(.answer())
        try await withTemporaryDirectory { directory in
            let result = try await RunningProgram.httpRecover(options + [Self.url(server)], in: directory).result()
            #expect(result.status == 64 && server.connectionCount == 0)
        }
    }

    @Test func aTransferThatStallsIsEnded() async throws {
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha").then(.stall),
            .answer(body: "half")
        )
        try await withTemporaryDirectory { directory in
            let options = ["--idle-timeout", "0.3", "-o", directory + "/file", Self.url(server)]
            let result = try await RunningProgram.httpRecover(options, in: directory).result()
            #expect(result.status == 0 && contents(of: directory + "/file") == "half")
            #expect(result.all("retry", "reason").compactMap(\.string) == ["timed_out"])
        }
    }

    /// What is judged by its body may be larger than what is read for that; it arrives whole all the same.
    @Test(arguments: ["-", "file"], ["200 OK", "404 Not Found"])
    func aLargeProblemArrivesWhole(output: String, status: String) async throws {
        let size = status.hasPrefix("2") ? 3_000_000 : 1_000_000
        let head = "HTTP/1.1 \(status)\r\nContent-Type: application/problem+json\r\nContent-Length: \(size)\r\n\r\n"
        let server = try FaultServer(.raw(head + String(repeating: "p", count: size)))
        try await withTemporaryDirectory { directory in
            let file = output == "-" ? "-" : directory + "/file"
            let result = try await RunningProgram.httpRecover(["-o", file, Self.url(server)], in: directory).result()
            #expect((output == "-" ? result.output : contents(of: file)).count == size)
            #expect((result.status == 0) == status.hasPrefix("2"))
        }
    }

    /// What is told is what is known of the attempt that has brought the answer, and not of the one that was begun last.
    @Test(arguments: [1, 2])
    func anAnswerBeforeItsHedgesIsToldOf(winner: Int) async throws {
        let (hedge, answer) = (FaultServer.Gate(), FaultServer.Gate())
        let answers = Counter()
        let server = try FaultServer { _ in
            let number = answers.next()
            if number == 2 { hedge.open() }
            let whole = FaultServer.Reply.raw("HTTP/1.1 203 Fine\r\nContent-Length: 2\r\nX-Number: \(number)\r\n\r\nok")
            return .wait(for: number == winner ? hedge : answer).then(whole)
        }
        defer { answer.open() }
        try await withTemporaryDirectory { directory in
            let options = [
                "--hedge", "0.1", "-w", " %{http_code} %header{x-number}", Self.url(server),
            ]
            let result = try await RunningProgram.httpRecover(options, in: directory).result()
            #expect(result.status == 0 && result.output == "ok 203 \(winner)", "\(result.output)")
        }
    }

    /// Two answers are under way at the same time: only one of them is written.
    @Test func hedgedBodiesNeverMix() async throws {
        let gate = FaultServer.Gate()
        let answers = Counter()
        let server = try FaultServer { _ in
            let number = answers.next()
            let body = String(repeating: "\(number)", count: 2000)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            // The first stalls within its body until the second has come.
            guard number == 1 else { return .raw(head + body).then(.open(gate)) }
            return .raw(head + body.prefix(500)).then(.wait(for: gate)).then(.raw(String(body.dropFirst(500))))
        }
        for output in ["-", "file"] {
            answers.restart()
            try await withTemporaryDirectory { directory in
                let file = output == "-" ? "-" : directory + "/file"
                let options = ["--hedge", "0.1", "-o", file, Self.url(server)]
                let result = try await RunningProgram.httpRecover(options, in: directory).result()
                let body = output == "-" ? result.output : contents(of: file)
                #expect(result.status == 0 && body.count == 2000 && Set(body).count == 1, "\(body.prefix(40))")
            }
        }
    }
}

/// Counts from 1.
private final class Counter: Sendable {
    private let value = Atomic(0)

    func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
    func restart() { value.store(0, ordering: .relaxed) }
}
