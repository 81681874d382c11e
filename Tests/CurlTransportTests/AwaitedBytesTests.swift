import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import CurlTransport

/// How much of a body comes before anybody reads it.
@Suite(.timeLimit(.minutes(30)))
struct AwaitedBytesTests {
    private static let size = 1 << 20

    /// How much has come, and whether receiving has paused, when nothing more comes by itself.
    private func received(awaiting count: Int) async throws -> (bytes: Int, hasPaused: Bool, body: [UInt8]) {
        let server = try FaultServer(.answer(body: String(repeating: "x", count: Self.size)))
        let configuration = CurlTransport.Configuration(httpVersion: .http1, maxBufferedBytes: 65_536)
        let loop = try #require(EventLoop(configuration: configuration.normalized()))
        let request = try EncodedRequest(.to(server.authority), body: nil, decompresses: false)
        let transfer = Transfer(request: request, deadline: Monotonic.never, awaitedBytes: count, loop: loop)
        try await transfer.submit()
        var (bytes, hasPaused, isOver) = (0, false, false)
        while !hasPaused, !isOver {
            await Task.yield()
            (bytes, hasPaused, isOver) = transfer.shared.withLock { ($0.received.count, $0.isReceivePaused, $0.isOver) }
        }
        var body: [UInt8] = []
        while let piece = try await transfer.nextBytes(atLeast: 1) { body += piece }
        await loop.stop()
        return (bytes, hasPaused, body)
    }

    @Test
    func whatNobodyAwaitsPauses() async throws {
        let received = try await received(awaiting: 0)
        #expect(received.hasPaused)
        #expect((65_536..<Self.size).contains(received.bytes))
        #expect(received.body == [UInt8](repeating: 0x78, count: Self.size))
    }

    @Test
    func whatIsAwaitedComesWithoutAPause() async throws {
        let received = try await received(awaiting: Self.size + 1)
        #expect(!received.hasPaused)
        #expect(received.bytes == Self.size)
        #expect(received.body == [UInt8](repeating: 0x78, count: Self.size))
    }

    /// What is behind the awaited bytes waits for its reader, who has taken those, as any other body does.
    @Test
    func whatIsBehindItPauses() async throws {
        let received = try await received(awaiting: 300_000)
        #expect(received.hasPaused)
        #expect((300_000..<Self.size).contains(received.bytes))
        #expect(received.body == [UInt8](repeating: 0x78, count: Self.size))
    }
}
