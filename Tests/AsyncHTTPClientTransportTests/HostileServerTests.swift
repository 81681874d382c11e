#if AsyncHTTPClient
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import NIOPosix
import ProcessSupport
import Testing

@testable import AsyncHTTPClientTransport

/// What a server, or a caller, can say that the client underneath has no answer for.
@Suite(.timeLimit(.minutes(10)))
struct HostileServerTests {
    // MARK: What would end the program

    /// More than the channel takes before it says that it is full, which it says, and takes back, while the head is written.
    @Test(.enabled(if: TLSFront.isAvailable), arguments: [false, true])
    func aLargeHeadBeforeAStreamIsSent(isTLS: Bool) async throws {
        let server = try FaultServer(plan: { _ in .raw { Self.answerAll($0) } }, reply: { _ in .stall })
        let front = isTLS ? try await TLSFront.start(port: server.port) : nil
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: front?.caFile))
        let authority = front?.authority ?? server.authority
        for size in [70_000, 66_000, 300_000] {
            let fields = HTTPFields([HTTPField(name: .cookie, value: String(repeating: "c", count: size))])
            let request = HTTPRequest.to(authority, .put, scheme: isTLS ? "https" : "http", headers: fields)
            let source = AsyncStream<ArraySlice<UInt8>> { continuation in
                continuation.yield(Array("12345".utf8)[...])
                continuation.finish()
            }
            #expect(try await transport.fetch(request, MessageBody(once: source)).body == "5")
        }
        await transport.shutdown()
        withExtendedLifetime(front) {}
    }

    /// Reads requests with a body of five bytes in chunks, and says so.
    private static func answerAll(_ connection: FaultServer.Connection) {
        var end: [UInt8] = []
        while let bytes = connection.read() {
            end = (end + bytes).suffix(5)
            if end == Array("0\r\n\r\n".utf8) {
                connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n5".utf8))
            }
        }
    }

    @Test(arguments: [253, 255, 256, 70_000])
    func aHostMayBeSoLong(length: Int) throws {
        for suffix in ["", ":80"] {
            let request = HTTPRequest.to(String(repeating: "h", count: length) + suffix)
            let result = Result { () throws(TransportError) in
                try EncodedRequest(request, body: nil, decompresses: false)
            }
            switch result {
            case .success: #expect(length <= 255)
            case .failure(let error): #expect(length > 255 && error.code == .invalidRequest)
            }
        }
    }

    /// The client decodes what is percent-encoded in a host, and tells it to proxies as it is, or ends the program.
    @Test(arguments: [
        "%5b", "%5d", "a%20HTTP%2f1.1%0d%0a%0d%0aPOST%20http%3a%2f%2fb", "127.0.0.1%00.a", "a%3a25", "[::1%0d%0a]",
        "[::1%25",
        "b\u{fc}cher.example", "a\u{ff0f}b",
    ])
    func aHostThatWouldBeDecodedIsRefused(host: String) async throws {
        let proxy = try FaultServer(.answer(502))
        for configuration in [
            AsyncHTTPClientTransport.Configuration(), .init(proxy: .url("http://u:p@\(proxy.authority)")),
        ] {
            let transport = AsyncHTTPClientTransport.patient(configuration)
            let error = try await transport.failure(.to(host))
            #expect(error.code == .invalidRequest && error.certainty == .neverSent, "\(error)")
            await transport.shutdown()
        }
        #expect(proxy.connectionCount == 0)
    }

    /// What has the form of an address and is none, or is not this machine's, ends in an error.
    @Test(arguments: ["[:]", "[.]", "[:::::::::]", "[1]", "[::1%25nosuch]:1", "[fe80::1%25lo]:1"])
    func aStrangeHostIsAnError(host: String) async throws {
        let transport = AsyncHTTPClientTransport.patient()
        for scheme in ["http", "https"] {
            #expect(try await transport.failure(.to(host, scheme: scheme)).certainty == .neverSent)
        }
        await transport.shutdown()
    }

    @Test
    func aFragmentIsNotSent() async throws {
        let server = try FaultServer { .echo($0) }
        let transport = AsyncHTTPClientTransport.patient()
        for (path, target) in [("/a#b", "/a"), ("/a?b#c?d", "/a?b"), ("/#", "/")] {
            let (_, body) = try await transport.fetch(.to(server.authority, .get, path))
            #expect(body.hasPrefix("GET \(target) HTTP/1.1\r\n"), "\(body)")
        }
        await transport.shutdown()
    }

    // MARK: Whose request and whose answer

    /// The transport's own field is nobody else's to set.
    @Test
    func whatIsCalledAsTheTransportsMarkIsNotSent() async throws {
        let server = try FaultServer(.answer())
        let transport = AsyncHTTPClientTransport.patient()
        let name = try #require(HTTPField.Name("x-http-recovery-transfer"))
        for value in ["1", "18446744073709551615", "x"] {
            let request = HTTPRequest.to(server.authority, headers: [name: value])
            #expect(try await transport.fetch(request).head.status == .ok)
        }
        #expect(server.receivedRequests.allSatisfy { $0.headers[name] == nil })
        await transport.shutdown()
    }

    private static let half = "HTTP/1.1 200 OK\r\nX-Smuggled: 1\r\nContent-Length: 3"

    /// Half of an answer that comes with another, or later, would be that of the next request with what follows.
    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ],
        [false, true]
    )
    func whatStandsBehindAnAnswerIsNoneOfTheNext(answer: String, isLater: Bool) async throws {
        let idle = FaultServer.Gate()
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    while connection.read() != nil {
                        guard connection.id == 0 else {
                            connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal".utf8))
                            continue
                        }
                        connection.write(Array((answer + (isLater ? "" : Self.half)).utf8))
                        if isLater {
                            idle.wait()
                            connection.write(Array(Self.half.utf8))
                        }
                        // The client's end, or its next request.
                        if connection.read() != nil { connection.write(Array("\r\n\r\nbad".utf8)) }
                    }
                }
            },
            reply: { _ in .stall }
        )
        let transport = AsyncHTTPClientTransport.patient()
        #expect(try await transport.fetch(.to(server.authority)).head.status.code / 100 == 2)
        idle.open()
        if isLater { try await server.hangups(count: 1) }
        do {
            #expect(try await transport.fetch(.to(server.authority, .post)).body == "real")
        } catch let error as TransportError {
            // It was about to be sent when the connection was closed, or on its way.
            #expect(error.certainty == .neverSent || error.code == .connectionLost && !isLater, "\(error)")
        }
        #expect(try await transport.fetch(.to(server.authority)).body == "real")
        await transport.shutdown()
    }

    /// An empty line behind a body has been sent by servers of old.
    @Test
    func anEmptyLineIsForgiven() async throws {
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    while connection.read() != nil {
                        connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(connection.id)\r\n".utf8))
                    }
                }
            },
            reply: { _ in .stall }
        )
        let transport = AsyncHTTPClientTransport.patient()
        for _ in 0..<5 { #expect(try await transport.fetch(.to(server.authority)).body == "0") }
        await transport.shutdown()
    }

    // MARK: What is not whole

    @Test(
        .enabled(if: TLSFront.isAvailable),
        arguments: ["identity", "gzip", "gzip, chunked", "chunked, identity", "", "x", "identity, gzip"]
    )
    func aBodyThatIsCutIsNotWholeWhateverItsCoding(coding: String) async throws {
        let front = try await TLSFront.start(
            port: 1,
            settings: #"early = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: \#(coding)\r\n\r\nhalf of the bo""#
        )
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: front.caFile))
        let error = try await transport.failure(.to(front.authority, scheme: "https"))
        #expect(error.certainty == .answered, "\(error)")
        await transport.shutdown()
        withExtendedLifetime(front) {}
    }

    @Test
    func aCodingThatIsNoneEndsWithItsConnection() async throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\nConnection: close\r\n\r\nwhole"
        let server = try FaultServer(.raw(answer).then(.finish))
        let transport = AsyncHTTPClientTransport.patient()
        #expect(try await transport.fetch(.to(server.authority)).body == "whole")
        await transport.shutdown()
    }

    // MARK: What would never end

    /// The first connection is silent behind TLS, where HTTP/2 is to begin; the others answer.
    @Test(.enabled(if: TLSFront.isAvailable))
    func anOriginIsNotLostToAConnectionThatNeverBegins() async throws {
        let server = try FaultServer(
            plan: { connection in
                connection == 0
                    ? .raw { connection in while connection.read() != nil {} }
                    : .raw { connection in
                        guard connection.read(exactly: 24) != nil else { return }
                        connection.write(HTTP2Frame.settings)
                        while let frame = HTTP2Frame.read(from: connection) {
                            if frame.type == 4, frame.flags & 1 == 0 { connection.write(HTTP2Frame.settingsAck) }
                            if frame.type == 1 { connection.write(HTTP2Frame.ok(frame.stream)) }
                        }
                    }
            },
            reply: { _ in .stall }
        )
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var configuration = AsyncHTTPClientTransport.Configuration(eventLoopGroup: loop, caFile: front.caFile)
        configuration.connectTimeout = .seconds(2)
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        var ended = 0
        // On a busy machine the others may need more than the time, too.
        for _ in 0..<30 where ended == 0 {
            let response = try? await transport.fetch(.to(front.authority, scheme: "https"))
            if response?.head.status == .ok { ended += 1 }
        }
        #expect(ended == 1)
        await transport.shutdown()
        withExtendedLifetime(front) {}
    }

    /// The request's head is larger than the socket takes, and the answer there before its body could begin.
    @Test(arguments: [
        "413 No\r\nContent-Length: 0\r\n\r\n", "413 No\r\nContent-Length: 2\r\n\r\nno",
        "200 OK\r\nContent-Length: 2\r\n\r\nok",
    ])
    func anAnswerBeforeTheBodyHasBegunEndsTheCall(answer: String) async throws {
        let isOver = FaultServer.Gate()
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    _ = connection.read(upTo: 1000)
                    connection.write(Array("HTTP/1.1 \(answer)".utf8))
                    isOver.wait()
                }
            },
            reply: { _ in .stall }
        )
        let transport = AsyncHTTPClientTransport.patient()
        let fields = HTTPFields([HTTPField(name: .cookie, value: String(repeating: "c", count: 12 << 20))])
        let source = AsyncStream<ArraySlice<UInt8>> { _ in }
        let request = HTTPRequest.to(server.authority, .put, headers: fields)
        let (head, _) = try await transport.fetch(request, MessageBody(once: source))
        #expect(head.status.code == Int(answer.prefix(3)))
        isOver.open()
        await transport.shutdown()
    }

    /// Nothing else would end the connection but the server.
    @Test(.enabled(if: TLSFront.isAvailable))
    func aConnectionOnWhichNoMoreMayBeAskedIsClosed() async throws {
        let idle = FaultServer.Gate()
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(HTTP2Frame.settings)
                    while let frame = HTTP2Frame.read(from: connection) {
                        if frame.type == 4, frame.flags & 1 == 0 { connection.write(HTTP2Frame.settingsAck) }
                        guard frame.type == 1 else { continue }
                        connection.write(HTTP2Frame.ok(frame.stream))
                        idle.wait()
                        connection.write(HTTP2Frame.goAway(lastStream: frame.stream))
                    }
                }
            },
            reply: { _ in .stall }
        )
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: front.caFile))
        #expect(try await transport.fetch(.to(front.authority, scheme: "https")).head.status == .ok)
        idle.open()
        try await server.hangups(count: 1)
        await transport.shutdown()
        withExtendedLifetime(front) {}
    }
}
#endif
