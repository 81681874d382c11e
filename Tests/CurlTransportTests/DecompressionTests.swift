import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A compressed body may be far larger than what came over the network: it ends in an error that says so, or arrives
/// whole.
@Suite(.timeLimit(.minutes(30)))
struct DecompressionTests {
    private static func server(_ bytes: [UInt8], _ coding: String = "deflate", isChunked: Bool = false) throws
        -> FaultServer
    {
        guard isChunked else { return try FaultServer(.answer(headers: [("Content-Encoding", coding)], bytes: bytes)) }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n0\r\n\r\n".utf8)
        return try FaultServer(.bytes(Array(head.utf8) + chunk))
    }

    private static func transport(limit: Int, bufferSize: Int = 122_880) -> CurlTransport {
        var configuration = CurlTransport.Configuration(bufferSize: bufferSize)
        configuration.maxDecompressedBytes = limit
        return CurlTransport.patient(configuration)
    }

    private static func size(_ transport: CurlTransport, _ server: FaultServer) async throws -> Int {
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        var count = 0
        for try await chunk in response.body {
            // The reader is slow to ask: what comes meanwhile has to wait.
            for _ in 0..<20 { await Task.yield() }
            count += chunk.count
        }
        return count
    }

    /// 100 KB that are 100 MB.
    private static let bomb = Zlib.zeros(runs: 400_000)

    @Test(arguments: [false, true])
    func aBodyThatExpandsTooFarSaysSo(isChunked: Bool) async throws {
        #expect(Self.bomb.count < 102_000)
        let server = try Self.server(Self.bomb, isChunked: isChunked)
        let transport = CurlTransport.patient()
        let error = try await #require(throws: TransportError.self) {
            let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
            _ = try await response.body.collect(upTo: 1 << 30)
        }
        #expect(error.code == .bodyTooLarge, "\(error)")
        #expect(error.certainty == .answered)
        #expect(!error.isTransient)
        #expect(error.message.contains("67108864"))
        // The transport goes on working.
        let other = try FaultServer(.answer(body: "small"))
        #expect(try await transport.fetch(.to(other.authority)).body == "small")
    }

    @Test(arguments: [false, true])
    func whoAllowsItGetsAllOfIt(isChunked: Bool) async throws {
        let server = try Self.server(Self.bomb, isChunked: isChunked)
        // What a buffer expands to stays below libcurl's own bound.
        let transport = Self.transport(limit: 128 << 20, bufferSize: 16_384)
        #expect(try await Self.size(transport, server) == 258 * 400_000 + 1)
    }

    @Test
    func whatStaysBelowTheLimitArrivesWhole() async throws {
        let server = try Self.server(Zlib.zeros(runs: 80_000))
        #expect(try await Self.size(CurlTransport.patient(), server) == 258 * 80_000 + 1)
    }

    @Test
    func theLimitHoldsForAReaderThatKeepsUpToo() async throws {
        var configuration = CurlTransport.Configuration(bufferSize: 1024)
        configuration.maxDecompressedBytes = 8 << 20
        let server = try Self.server(Self.bomb)
        let transport = CurlTransport.patient(configuration)
        let error = try await #require(throws: TransportError.self) { try await Self.size(transport, server) }
        #expect(error.code == .bodyTooLarge, "\(error)")
    }

    /// Whatever may wait for the reader, and whatever the reader waits for.
    @Test(arguments: [262_144, 1 << 20, 1 << 24, 1 << 30], [false, true])
    func theLimitHoldsWhateverMayWait(buffered: Int, isCollected: Bool) async throws {
        var configuration = CurlTransport.Configuration(bufferSize: 1024)
        configuration.maxDecompressedBytes = 1 << 20
        configuration.maxBufferedBytes = buffered
        let server = try Self.server(Self.bomb)
        let transport = CurlTransport.patient(configuration)
        let error = try await #require(throws: TransportError.self) {
            if !isCollected { return _ = try await Self.size(transport, server) }
            let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
            _ = try await response.body.collect(upTo: 1 << 30)
        }
        #expect(error.code == .bodyTooLarge, "\(error)")
    }

    @Test
    func aLongBodyThatHardlyExpandsIsNone() async throws {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<1_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let server = try Self.server(Zlib.stored(bytes))
        let transport = Self.transport(limit: 500_000)
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        #expect(try await response.body.collect(upTo: 2_000_000) == bytes)
    }

    @Test
    func aLongBodyThatIsNotCompressedIsNone() async throws {
        let bytes = [UInt8](repeating: 0, count: 3_000_000)
        let server = try FaultServer(.answer(bytes: bytes))
        #expect(try await Self.size(Self.transport(limit: 1), server) == bytes.count)
    }

    // MARK: Transfer codings

    /// Some libcurl undoes what nobody has asked for, and says nothing of it.
    @Test(
        arguments: ["gzip, chunked", "deflate, chunked", "deflate", "x-unknown, chunked", "chunked, deflate"],
        [true, false]
    )
    func aTransferCodingThatNobodyAskedForIsRefused(coding: String, decompresses: Bool) async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nConnection: close\r\n\r\n"
        let chunk = Array("\(String(Self.bomb.count, radix: 16))\r\n".utf8) + Self.bomb + Array("\r\n0\r\n\r\n".utf8)
        let server = try FaultServer(.bytes(Array(head.utf8) + chunk))
        var configuration = CurlTransport.Configuration()
        configuration.decompresses = decompresses
        let error = try await CurlTransport.patient(configuration).failure(.to(server.authority))
        #expect(error.code == .notHTTP && error.certainty == .answered, "\(error)")
    }

    @Test(arguments: ["Chunked", "identity, chunked", " chunked ,", "chunked\r\nTransfer-Encoding: identity"])
    func chunksAreNoCoding(coding: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n"
        let server = try FaultServer(.raw(head + "2\r\nok\r\n0\r\n\r\n"))
        #expect(try await CurlTransport.patient().fetch(.to(server.authority)).body == "ok")
    }

    /// What comes without a body may tell of one (RFC 9112, section 6.1).
    @Test(arguments: [("HEAD", 200), ("GET", 304), ("GET", 204)])
    func aCodingOfNoBodyIsNone(method: String, status: Int) async throws {
        let server = try FaultServer(.raw("HTTP/1.1 \(status) X\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"))
        let method = try #require(HTTPRequest.Method(method))
        let transport = CurlTransport.patient()
        for _ in 0..<2 {
            #expect(try await transport.fetch(.to(server.authority, method)).head.status.code == status)
        }
    }

    // MARK: Codings within codings

    /// Zeros compressed so often that all but the last are stored.
    private static func nested(_ layers: Int) -> [UInt8] {
        (1..<layers).reduce(Zlib.zeros(runs: 100)) { bytes, _ in Zlib.stored(bytes) }
    }

    private static func codings(_ count: Int) -> String {
        Array(repeating: "deflate", count: count).joined(separator: ", ")
    }

    @Test(arguments: [2, 4])
    func aFewCodingsAreUndone(count: Int) async throws {
        let server = try Self.server(Self.nested(count), Self.codings(count))
        #expect(try await Self.size(CurlTransport.patient(), server) == 258 * 100 + 1)
    }

    @Test(arguments: [6, 20, 400])
    func manyCodingsAreRefused(count: Int) async throws {
        let server = try Self.server(Self.nested(count), Self.codings(count))
        let error = try await CurlTransport.patient().failure(.to(server.authority))
        #expect(error.code == .badContentEncoding, "\(error)")
        #expect(error.certainty == .answered)
    }

    @Test
    func aBombWithinACodingIsOneToo() async throws {
        let server = try Self.server(Zlib.stored(Self.bomb), "deflate, deflate")
        let error = try await #require(throws: TransportError.self) {
            try await Self.size(CurlTransport.patient(), server)
        }
        #expect(error.code == .bodyTooLarge)
    }
}
