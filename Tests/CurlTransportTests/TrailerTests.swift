import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The fields after a body: there when it has been read, and not before.
@Suite(.timeLimit(.minutes(30)))
struct TrailerTests {
    private static let sum = HTTPField.Name("X-Sum")
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func send(_ authority: String, _ transport: CurlTransport = .patient()) async throws
        -> TransportResponse
    {
        try await transport.send(.to(authority), body: nil, options: AttemptOptions())
    }

    private static func value(_ response: TransportResponse) throws -> String? {
        response.trailers?[try #require(sum)]
    }

    @Test
    func theyComeWithABodyThatCameAtOnce() async throws {
        let tail = "5\r\nhello\r\n0\r\nX-Sum: abc\r\nx-two: 1\r\nX-Two: 2\r\n\r\n"
        let server = try FaultServer(.raw(Self.head + tail))
        let transport = CurlTransport.patient()
        for _ in 0..<2 {
            let response = try await Self.send(server.authority, transport)
            #expect(try await response.body.collect(upTo: 100) == Array("hello".utf8))
            #expect(try Self.value(response) == "abc")
            #expect(response.trailers?.map { "\($0.name.rawName)=\($0.value)" } == ["X-Sum=abc", "x-two=1", "X-Two=2"])
            #expect(response.head.headerFields[try #require(Self.sum)] == nil, "they are not the head's")
        }
        #expect(server.connectionCount == 1)
    }

    /// libcurl 7.88 hands over in one piece what it has kept of them.
    @Test
    func theyAreToldApartBehindAPause() async throws {
        let tail = "5\r\nhello\r\n5\r\nworld\r\n0\r\nX-Sum: abc\r\nX-Two: 2\r\n\r\n"
        let server = try FaultServer(.raw(Self.head + tail))
        let response = try await Self.send(server.authority, .patient(.init(maxBufferedBytes: 1)))
        #expect(try await response.body.collect(upTo: 100) == Array("helloworld".utf8))
        #expect(response.trailers?.map { "\($0.name.rawName)=\($0.value)" } == ["X-Sum=abc", "X-Two=2"])
    }

    /// libcurl bounds a line of them at some 4 KiB, and calls more than that "out of memory".
    @Test(arguments: [1000, 100_000])
    func aLongOneArrivesOrIsTooLarge(length: Int) async throws {
        let tail = "5\r\nhello\r\n0\r\nX-Sum: \(String(repeating: "a", count: length))\r\n\r\n"
        let server = try FaultServer(.raw(Self.head + tail))
        do {
            let response = try await Self.send(server.authority)
            _ = try await response.body.collect(upTo: 100)
            #expect(try Self.value(response)?.utf8.count == length && length < 4000)
        } catch let error as TransportError {
            #expect(error.code == .headersTooLarge && error.certainty == .answered && !error.isTransient, "\(error)")
            #expect(length > 4000)
        }
    }

    @Test
    func theyAreNotThereBeforeTheBodyHasEnded() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            .raw(Self.head + "5\r\nhello\r\n").then(.wait(for: gate)).then(.raw("0\r\nX-Sum: late\r\n\r\n"))
        )
        let response = try await Self.send(server.authority)
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == ArraySlice("hello".utf8))
        #expect(response.trailers == nil)
        gate.open()
        #expect(try await iterator.next() == nil)
        #expect(try Self.value(response) == "late")
    }

    @Test(arguments: ["0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"])
    func aBodyWithoutThemHasNone(body: String) async throws {
        let server = try FaultServer(.raw(Self.head + body))
        let response = try await Self.send(server.authority)
        _ = try await response.body.collect(upTo: 100)
        #expect(response.trailers == nil)
    }

    @Test
    func aBodyThatBreaksOffHasNone() async throws {
        let server = try FaultServer(.raw(Self.head + "5\r\nhello\r\n0\r\nX-Sum: ab").then(.close))
        let response = try await Self.send(server.authority)
        let error = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100) }
        #expect(error?.code == .truncated)
        #expect(response.trailers == nil)
    }

    @Test
    func theyAreBounded() async throws {
        let server = try FaultServer(.raw(Self.head + "0\r\n").then(.endless("X-More: and more and more\r\n")))
        let error = try await CurlTransport.patient().failure(.to(server.authority))
        #expect(error.code == .headersTooLarge, "\(error)")
        #expect(error.certainty == .answered)
    }

    @Test
    func theyComeOverHTTP2() async throws {
        let server = try HTTP2Tests.server { stream in
            HTTP2Frame.headers(stream, endsStream: false)
                + HTTP2Frame.data(stream, Array("hello".utf8), endsStream: false)
                + HTTP2Frame.trailers(stream, [("x-sum", "abc"), ("x-two", "2")])
        }
        var configuration = CurlTransport.Configuration()
        configuration.speaksHTTP2WithPriorKnowledge = true
        let response = try await Self.send(server.authority, .patient(configuration))
        #expect(try await response.body.collect(upTo: 100) == Array("hello".utf8))
        #expect(try Self.value(response) == "abc")
        #expect(response.trailers?.count == 2)
    }

    @Test(arguments: [RequestOptions.Buffering.streamed, .upTo(2), .upTo(1000)])
    func theyReachTheCaller(buffering: RequestOptions.Buffering) async throws {
        let server = try FaultServer(.raw(Self.head + "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n"))
        let client = RecoveringClient.patient(CurlTransport.patient())
        var options = RequestOptions()
        options.buffering = buffering
        let response = try await client.send(.to(server.authority), options: options)
        #expect(try await response.body.collect(upTo: 100) == Array("hello".utf8))
        #expect(response.trailers?[try #require(Self.sum)] == "abc")
    }
}
