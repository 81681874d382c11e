#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPRecovery
import HTTPRecoveryTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing

@testable import AsyncHTTPClientTransport

/// The verdict as a table of errors and facts.
struct VerdictTests {
    private static let sent = TransferFacts(wireAttempts: 1)
    private static let answered = TransferFacts(wireAttempts: 1, sawStatus: true, sawHead: true)

    @Test
    func theFactsDecideHowSureItIs() {
        let errors: [any Error] = [
            HTTPClientError.remoteConnectionClosed, HTTPClientError.deadlineExceeded, HTTPClientError.connectTimeout,
            HTTPClientError.cancelled, ChannelError.eof, IOError(errnoCode: 104, reason: "read"),
            HTTPParserError.invalidEOFState, HTTPParserError.invalidVersion, NIOSSLError.uncleanShutdown,
            NIOSSLError.unableToValidateCertificate, CancellationError(),
        ]
        for error in errors {
            #expect(Verdict.error(for: error, facts: TransferFacts()).certainty == .neverSent, "\(error)")
            #expect(Verdict.error(for: error, facts: Self.sent).certainty == .unknown, "\(error)")
            #expect(Verdict.error(for: error, facts: Self.answered).certainty == .answered, "\(error)")
            let refused = TransferFacts(wireAttempts: 1, isRefused: true)
            #expect(Verdict.error(for: error, facts: refused).certainty == .notProcessed, "\(error)")
            let late = TransferFacts(wireAttempts: 1, sawStatus: true, isRefused: true)
            #expect(Verdict.error(for: error, facts: late).certainty == .answered, "\(error)")
        }
    }

    @Test
    func theWordsAreThoseOfCurlTransport() {
        func code(_ error: any Error, _ facts: TransferFacts = TransferFacts()) -> TransportError.Code {
            Verdict.error(for: error, facts: facts).code
        }
        #expect(code(HTTPClientError.alreadyShutdown) == .shutDown)
        #expect(code(HTTPClientError.getConnectionFromPoolTimeout) == .timedOut)
        #expect(code(HTTPClientError.remoteConnectionClosed) == .cannotConnect)
        #expect(code(HTTPClientError.remoteConnectionClosed, Self.sent) == .connectionLost)
        #expect(code(IOError(errnoCode: 24, reason: "socket")) == .outOfResources)
        #expect(code(IOError(errnoCode: 111, reason: "connect")) == .cannotConnect)
        #expect(code(IOError(errnoCode: 104, reason: "read"), Self.sent) == .connectionLost)
        #expect(code(NIOSSLError.noSuchFilesystemObject) == .misconfigured)
        #expect(code(NIOSSLError.unableToValidateCertificate) == .certificateRejected)
        #expect(code(HTTPParserError.invalidEOFState, Self.sent) == .connectionLost)
        #expect(code(HTTPParserError.invalidEOFState, Self.answered) == .truncated)
        #expect(code(HTTPParserError.invalidConstant, Self.sent) == .notHTTP)
        #expect(code(HTTPParserError.headerOverflow, Self.answered) == .headersTooLarge)
    }

    /// Should the client ever do it, the handler stops it.
    @Test
    func aRequestIsWrittenOnce() throws {
        let request = try EncodedRequest(.to("h"), body: nil, decompresses: false)
        let pool = LoopPool(loop: MultiThreadedEventLoopGroup.singleton.next(), configuration: .init())
        let transfer = Transfer(request: request, options: AttemptOptions(), pool: pool)
        try transfer.willWrite()
        #expect(throws: TransportError.self) { try transfer.willWrite() }
        let error = Verdict.error(for: HTTPClientError.remoteConnectionClosed, facts: transfer.facts)
        #expect(error.code == .connectionLost && error.certainty == .unknown)
        #expect(error.message.contains("resend"))
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", true), ("HTTP/1.1 200 O", false), ("HTTP/1.1 20\r\n", false),
        ("HTTP/1.1 103 Early\r\nA: b\r\n\r\n", false), ("HTTP/1.1 100 \r\n\r\nHTTP/1.1 404 \r\n", true),
        ("HTTP/1.1 101 Switching\n", true), ("\r\nHTTP/1.1 200 OK\r\n", true), ("SSH-2.0 200 x\r\n", false),
        ("HTTP\r/1.0 200\n", false),
    ])
    func aStatusLineIsSeen(text: String, isSeen: Bool) {
        var scanner = HeadScanner(isActive: true)
        for byte in text.utf8 { scanner.read(CollectionOfOne(byte)) }
        #expect(scanner.sawStatus == isSeen)
        #expect(scanner.isActive)
        #expect(scanner.count == text.utf8.count)
    }

    @Test
    func theBodyIsNotLookedAt() {
        var scanner = HeadScanner(isActive: true)
        scanner.read("HTTP/1.1 200 OK\r\nA: b\r\n\r\n0123456789".utf8)
        #expect(!scanner.isActive)
        #expect(scanner.count == 25)
    }

    @Test(arguments: [1, 3, 1000])
    func refusalsAreFoundAmongFrames(piece: Int) {
        var scanner = RefusalScanner()
        let bytes =
            HTTP2Frame.settings + HTTP2Frame.reset(3, code: 8) + HTTP2Frame.ok(5) + HTTP2Frame.reset(7, code: 7)
            + HTTP2Frame.data(9, [UInt8](repeating: 7, count: 300), endsStream: true) + HTTP2Frame.goAway(lastStream: 9)
            + HTTP2Frame.reset(11, code: 7)
        var found: [RefusalScanner.Refusal] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            found += scanner.read(bytes[start..<min(start + piece, bytes.count)])
        }
        #expect(found == [.stream(7), .streamsAfter(9), .stream(11)])
        #expect(found.map { $0.covers(9) } == [false, false, false])
        #expect(found.map { $0.covers(11) } == [false, true, true])
    }
}
#endif
