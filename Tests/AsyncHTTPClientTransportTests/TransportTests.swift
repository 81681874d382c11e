#if AsyncHTTPClient
import AsyncHTTPClientTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// What is this transport's own, beside what every transport has to do.
@Suite(.timeLimit(.minutes(30)))
struct TransportTests {
    /// The client would end the program.
    @Test(arguments: ["h:0", "h:65536", "h:99999999999999999999", "h:x", "127.0.0.1:-1", "[::1]:70000"])
    func aPortThatIsNoneIsRefused(authority: String) async throws {
        let error = try await AsyncHTTPClientTransport.patient().failure(.to(authority))
        #expect(error.code == .invalidRequest && error.certainty == .neverSent)
    }

    @Test(arguments: ["/nonexistent/ca.pem", #filePath])
    func anAuthorityFileThatIsNoneIsAMisconfiguration(file: String) async throws {
        let server = try FaultServer(.answer())
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: file))
        let error = try await transport.failure(.to(server.authority, scheme: "https"))
        #expect(error.code == .misconfigured && error.certainty == .neverSent && !error.isTransient, "\(error)")
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func anyCertificateWillDoWhereVerificationIsOff() async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port, name: "DNS:elsewhere.example")
        let trusting = AsyncHTTPClientTransport.patient(.init(isCertificateVerificationDisabled: true))
        #expect(try await trusting.fetch(.to(front.authority, scheme: "https")).head.status == .ok)
        withExtendedLifetime(front) {}
    }

    @Test
    func aBodyThatExpandsWithoutMeasureIsGivenUp() async throws {
        // Some 400 KiB that become 64 MiB.
        var bytes: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        bytes += Bomb.deflated(copies: 1 << 18)
        let server = try FaultServer(.answer(headers: [("Content-Encoding", "gzip")], bytes: bytes))
        let error = try await AsyncHTTPClientTransport.patient().failure(.to(server.authority))
        #expect(error.code == .bodyTooLarge && error.certainty == .answered, "\(error)")
    }

    @Test
    func aCancelledHandshakeHoldsNobodyUp() async throws {
        let server = try FaultServer(plan: { _ in .stall }, reply: { _ in .answer() })
        let transport = AsyncHTTPClientTransport.patient()
        let task = Task { try await transport.fetch(.to(server.authority, scheme: "https")) }
        try await server.connections(count: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The client goes on connecting for whoever comes next, which holds no shutdown up.
        await transport.shutdown()
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func manyShareOneConnectionOfHTTP2() async throws {
        let server = try FaultServer.http2 { stream, _ in .init(HTTP2Frame.ok(stream)) }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: front.caFile))
        // The client learns from the first connection that the server speaks HTTP/2; a burst before that opens more.
        _ = try await transport.fetch(.to(front.authority, scheme: "https"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask { _ = try await transport.fetch(.to(front.authority, scheme: "https")) }
            }
            try await group.waitForAll()
        }
        #expect(server.receivedRequests.count == 41)
        #expect(server.connectionCount == 1)
        withExtendedLifetime(front) {}
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func aSendLimitIsKeptOverHTTP2() async throws {
        let server = try FaultServer.http2 { stream, _ in .init(HTTP2Frame.ok(stream)) }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, .post, scheme: "https")
        for _ in 0..<2 {
            let limit = AttemptOptions.SendLimit(
                TimeSource.Instant(sinceStart: .seconds(2)),
                time: TimeSource(clock: LookingClock())
            )
            let error = try await #require(throws: TransportError.self) {
                _ = try await transport.send(request, body: MessageBody("x"), options: AttemptOptions(sendLimit: limit))
            }
            #expect(error.code == .sendLimitPassed && error.certainty == .neverSent)
            _ = try await transport.fetch(request)
        }
        #expect(server.receivedRequests.count == 2)
        withExtendedLifetime(front) {}
    }

    @Test
    func aDroppedTransportClosesItsConnections() async throws {
        let server = try FaultServer { .answer(body: $0.path) }
        for _ in 0..<20 {
            let transport = AsyncHTTPClientTransport.patient()
            #expect(try await transport.fetch(.to(server.authority)).body == "/")
        }
        try await server.hangups(count: 20)
    }

    /// A clock that goes one second further each time somebody looks at it.
    private final class LookingClock: Clock, Sendable {
        typealias Instant = ManualClock.Instant
        private let looks = Locked<Int64>(-1)

        var now: Instant {
            looks.withLock { looks in
                looks += 1
                return Instant(offset: .seconds(looks))
            }
        }

        var minimumResolution: Duration { .seconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw CancellationError() }
    }
}

/// A body of zeros, as short as deflate can say it.
private enum Bomb {
    /// One block with fixed codes: a zero, and copies of 258 bytes of it.
    static func deflated(copies: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var (pending, count) = (0, 0)
        func append(_ bit: Int) {
            pending |= bit << count
            count += 1
            guard count == 8 else { return }
            bytes.append(UInt8(pending))
            (pending, count) = (0, 0)
        }
        func append(_ code: Int, bits: Int) { for shift in (0..<bits).reversed() { append(code >> shift & 1) } }
        // The last block, fixed codes (the lower bit of the two first), the literal 0.
        for bit in [1, 1, 0] { append(bit) }
        append(0x30, bits: 8)
        for _ in 0..<copies {
            // The length 258 has the symbol 285, at the distance 1.
            append(0xc5, bits: 8)
            append(0, bits: 5)
        }
        append(0, bits: 7)
        if count > 0 { bytes.append(UInt8(pending)) }
        return bytes
    }
}
#endif
