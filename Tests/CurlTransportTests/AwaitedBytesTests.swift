import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import CurlTransport

/// How much of a body comes before anybody reads it.
@Suite(.timeLimit(.minutes(30)))
struct AwaitedBytesTests {
    private static let size = 1 << 20

    /// How much has come, and whether receiving has paused, when nothing more comes by itself; and whether the body that is read
    /// then is the one that was sent.
    private func received(awaiting count: Int) async throws -> (bytes: Int, hasPaused: Bool, isWhole: Bool) {
        let server = try FaultServer(.answer(body: String(repeating: "x", count: Self.size)))
        let configuration = CurlTransport.Configuration(httpVersion: .http1, maxBufferedBytes: 65_536)
        let loop = try #require(EventLoop(configuration: configuration.normalized()))
        let request = try EncodedRequest(.to(server.authority), body: nil, decompresses: false)
        let transfer = Transfer(request: request, deadline: Monotonic.never, awaitedBytes: count, loop: loop)
        try await transfer.submit()
        // It may have come together with the head.
        var body = transfer.takeHead()?.completeBody ?? []
        var (bytes, hasPaused, isOver) = (body.count, false, !body.isEmpty)
        // What has come in the turn that pauses is there at its end.
        while !isOver, !hasPaused || bytes < max(65_536, count) {
            await Task.yield()
            (bytes, hasPaused, isOver) = transfer.shared.withLock { ($0.received.count, $0.isReceivePaused, $0.isOver) }
        }
        while let piece = try await transfer.nextBytes(atLeast: 1) { body += piece }
        await loop.stop()
        return (bytes, hasPaused, body == [UInt8](repeating: 0x78, count: Self.size))
    }

    @Test
    func whatNobodyAwaitsPauses() async throws {
        let received = try await received(awaiting: 0)
        #expect(received.hasPaused)
        #expect((65_536..<Self.size).contains(received.bytes))
        #expect(received.isWhole)
    }

    @Test
    func whatIsAwaitedComesWithoutAPause() async throws {
        let received = try await received(awaiting: Self.size + 1)
        #expect(!received.hasPaused)
        #expect(received.bytes == Self.size)
        #expect(received.isWhole)
    }

    /// What is behind the awaited bytes waits for its reader, who has taken those, as any other body does.
    @Test
    func whatIsBehindItPauses() async throws {
        let received = try await received(awaiting: 300_000)
        #expect(received.hasPaused)
        #expect((300_000..<Self.size).contains(received.bytes))
        #expect(received.isWhole)
    }

    /// The share of the bytes that may come ahead is used up exactly, and a reader comes who waits for no more than are there.
    @Test(arguments: [1, 4 << 20])
    func aReaderThatComesLateGetsWhatIsThere(wanted: Int) async throws {
        let (size, share) = (5 << 20, 4 << 20)
        let gate = FaultServer.Gate()
        let body = [UInt8](repeating: 0x78, count: size)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
        let reply = FaultServer.Reply.bytes(Array(head.utf8) + body[..<share]).then(.wait(for: gate))
            .then(.bytes(body[share...]))
        let server = try FaultServer(reply)
        let configuration = CurlTransport.Configuration(httpVersion: .http1, maxBufferedBytes: 65_536)
        let loop = try #require(EventLoop(configuration: configuration.normalized()))
        let request = try EncodedRequest(.to(server.authority), body: nil, decompresses: false)
        let transfer = Transfer(request: request, deadline: Monotonic.never, awaitedBytes: 8 << 20, loop: loop)
        try await transfer.submit()
        while transfer.shared.withLock({ $0.received.count }) < share { await Task.yield() }
        gate.open()
        while !transfer.shared.withLock({ $0.isReceivePaused }) { await Task.yield() }
        var received = try #require(await transfer.nextBytes(atLeast: wanted))
        #expect(received.count >= wanted)
        while let piece = try await transfer.nextBytes(atLeast: 1) { received += piece }
        let isWhole = received == body
        #expect(isWhole)
        await loop.stop()
    }
}
