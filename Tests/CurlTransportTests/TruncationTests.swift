import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// Bodies that end too early must not look complete.
@Suite(.timeLimit(.minutes(30)))
struct TruncationTests {
    struct Cut: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: String
        let body: [UInt8]
    }

    private static let text = Array("hello, hello, hello".utf8)
    private static let packed = Zlib.stored(text)

    static let cuts = [
        Cut(testDescription: "before the last chunk", fields: "Transfer-Encoding: chunked", body: chunk(text)),
        Cut(
            testDescription: "in a chunk's size",
            fields: "Transfer-Encoding: chunked",
            body: chunk(text) + Array("1".utf8)
        ),
        Cut(
            testDescription: "in the last chunk",
            fields: "Transfer-Encoding: chunked",
            body: chunk(text) + Array("0\r\n".utf8)
        ),
        Cut(testDescription: "before the first byte", fields: "Content-Length: 5", body: []),
        Cut(testDescription: "before the last byte", fields: "Content-Length: \(text.count + 1)", body: text),
        Cut(
            testDescription: "compressed, of a stated length",
            fields: "Content-Encoding: deflate\r\nContent-Length: \(packed.count)",
            body: Array(packed.dropLast(3))
        ),
        Cut(
            testDescription: "compressed, before the last chunk",
            fields: "Content-Encoding: deflate\r\nTransfer-Encoding: chunked",
            body: chunk(packed)
        ),
    ]

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
    }

    @Test(arguments: cuts)
    func aFINInTheBodyIsATruncation(cut: Cut) async throws {
        let head = Array("HTTP/1.1 200 OK\r\n\(cut.fields)\r\n\r\n".utf8)
        let server = try FaultServer(.bytes(head + cut.body).then(.close))
        let error = try await CurlTransport.patient().failure(.to(server.authority))
        #expect(error.code == .truncated, "\(error)")
        #expect(error.certainty == .answered)
        #expect(error.isTransient)
    }

    /// The framing was kept, the contents were not: libcurl takes that for the whole.
    @Test
    func compressedDataThatBreaksOffWithinItsFramingLooksWhole() async throws {
        let part = Array(Self.packed.dropLast(9))
        let server = try FaultServer(.answer(headers: [("Content-Encoding", "deflate")], bytes: part))
        let body = try await CurlTransport.patient().fetch(.to(server.authority)).body
        #expect(body.utf8.count < Self.text.count)
    }

    // MARK: TLS

    /// A body without a length ends with the connection, and over TLS the server says whether that was on purpose; who cuts
    /// the connection cannot say it.
    @Test(.enabled(if: TLSFront.isAvailable), arguments: [true, false])
    func aBodyWithoutALengthEndsWithTheConnection(isAnnounced: Bool) async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\n\r\nthe beginning").then(.close))
        let front = try await TLSFront.start(port: server.port, settings: isAnnounced ? "announces = True" : "")
        let transport = CurlTransport.patient(.init(caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, scheme: "https")
        if isAnnounced {
            #expect(try await transport.fetch(request).body == "the beginning")
        } else {
            let error = try await transport.failure(request)
            #expect(error.certainty == .answered, "\(error)")
            // A newer libcurl sees it by itself.
            #expect([.connectionLost, .truncated].contains(error.code), "\(error)")
        }
        withExtendedLifetime(front) {}
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func aBodyOfAStatedLengthNeedsNone() async throws {
        let server = try FaultServer(.answer(headers: [("Connection", "close")], body: "all of it").then(.close))
        let front = try await TLSFront.start(port: server.port)
        let transport = CurlTransport.patient(.init(caFile: front.caFile))
        #expect(try await transport.fetch(.to(front.authority, scheme: "https")).body == "all of it")
        withExtendedLifetime(front) {}
    }

    // MARK: HTTP/2

    /// The number of bytes was stated, and the stream ends without them.
    @Test
    func anHTTP2BodyShorterThanStatedIsNoSuccess() async throws {
        let server = try HTTP2Tests.server { stream in
            HTTP2Frame.headers(stream, [("content-length", "10")], endsStream: false)
                + HTTP2Frame.data(stream, Array("short".utf8), endsStream: true)
        }
        var configuration = CurlTransport.Configuration()
        configuration.speaksHTTP2WithPriorKnowledge = true
        let error = try await CurlTransport.patient(configuration).failure(.to(server.authority))
        // The stream is reset for it, maybe before libcurl has handed its head over.
        #expect([.answered, .unknown].contains(error.certainty), "\(error)")
    }

    @Test
    func anHTTP2StreamWithoutAnEndIsNoSuccess() async throws {
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(HTTP2Frame.settings)
                    while let frame = HTTP2Frame.read(from: connection) {
                        guard frame.type <= 1, frame.flags & 1 == 1 else { continue }
                        connection.write(
                            HTTP2Frame.headers(frame.stream, endsStream: false)
                                + HTTP2Frame.data(frame.stream, Array("part".utf8), endsStream: false)
                        )
                        return connection.close()
                    }
                }
            },
            reply: { _ in .answer() }
        )
        var configuration = CurlTransport.Configuration()
        configuration.speaksHTTP2WithPriorKnowledge = true
        let error = try await CurlTransport.patient(configuration).failure(.to(server.authority))
        #expect(error.certainty == .answered, "\(error)")
        #expect([.connectionLost, .truncated].contains(error.code), "\(error)")
    }
}
