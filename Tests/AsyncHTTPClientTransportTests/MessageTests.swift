#if AsyncHTTPClient
import AsyncHTTPClientTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What goes over the wire, in both directions.
@Suite(.timeLimit(.minutes(30)))
struct MessageTests {
    let transport = AsyncHTTPClientTransport.patient()

    @Test
    func aGetArrivesAsItWasWritten() async throws {
        let server = try FaultServer { .echo($0) }
        let (head, body) = try await transport.fetch(
            .to(server.authority, .get, "/a/../b?x=%20&y", headers: [.accept: "text/plain", .userAgent: "test/1"])
        )
        #expect(head.status == .ok)
        let lines = body.split(separator: "\r\n").map(String.init)
        #expect(lines.first == "GET /a/../b?x=%20&y HTTP/1.1")
        #expect(
            Set(lines.dropFirst()) == [
                "Host: \(server.authority)", "Accept: text/plain", "User-Agent: test/1",
                "Accept-Encoding: deflate, gzip",
            ]
        )
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
    func aMissingBodyHasLengthZero(method: HTTPRequest.Method) async throws {
        let server = try FaultServer(.answer())
        _ = try await transport.fetch(.to(server.authority, method))
        let request = try #require(server.receivedRequests.first)
        #expect(request.method == method.rawValue)
        #expect(request.headers[.contentLength] == "0")
        #expect(request.headers[.contentType] == nil)
    }

    @Test(arguments: [HTTPRequest.Method.get, .delete, .options, .head])
    func aMethodWithoutABodySaysNothingAboutOne(method: HTTPRequest.Method) async throws {
        let server = try FaultServer(.raw("HTTP/1.1 204 No Content\r\n\r\n"))
        _ = try await transport.fetch(.to(server.authority, method))
        let request = try #require(server.receivedRequests.first)
        #expect(request.method == method.rawValue)
        #expect(request.headers[.contentLength] == nil)
        #expect(request.headers[.transferEncoding] == nil)
    }

    @Test(arguments: [HTTPRequest.Method.get, .post, .put, .patch, .delete], [1, 65_536, 3_000_000])
    func aBodyArrivesWhole(method: HTTPRequest.Method, size: Int) async throws {
        let server = try FaultServer(.answer())
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        _ = try await transport.fetch(.to(server.authority, method), MessageBody(bytes))
        let request = try #require(server.receivedRequests.first)
        #expect(request.body == bytes)
        #expect(request.headers[.contentLength] == String(size))
        #expect(request.headers[.expect] == nil)
    }

    @Test(arguments: [true, false])
    func aStreamArrivesWhole(lengthIsKnown: Bool) async throws {
        let server = try FaultServer(.answer())
        let source = ChunkSource()
        for index in 0..<50 { source.send(String(repeating: "\(index % 10)", count: 1000)) }
        source.finish()
        let body = MessageBody(once: source.stream, length: lengthIsKnown ? 50_000 : nil)
        _ = try await transport.fetch(.to(server.authority, .post), body)
        let request = try #require(server.receivedRequests.first)
        #expect(request.body.count == 50_000)
        #expect(request.headers[.contentLength] == (lengthIsKnown ? "50000" : nil))
        #expect(request.headers[.transferEncoding] == (lengthIsKnown ? nil : "chunked"))
    }

    @Test
    func repeatedFieldsAreKeptAndInterimResponsesDropped() async throws {
        let server = try FaultServer(
            .raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
                .then(
                    .raw(
                        "HTTP/1.1 201 Made It\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nBad Name: x\r\n: empty\r\n"
                            + "X-Folded: one\r\n  two\r\nX-Empty:\r\nContent-Length: 2\r\n\r\nok"
                    )
                )
        )
        let (head, body) = try await transport.fetch(.to(server.authority))
        #expect(head.status.code == 201)
        #expect(head.status.reasonPhrase == "Made It")
        #expect(head.headerFields[values: .setCookie] == ["a=1", "b=2"])
        #expect(head.headerFields[try #require(HTTPField.Name("Link"))] == nil)
        #expect(head.headerFields[try #require(HTTPField.Name("X-Folded"))] == "one two")
        #expect(head.headerFields[try #require(HTTPField.Name("X-Empty"))]?.isEmpty == true)
        #expect(body == "ok")
    }

    @Test
    func connectionsAreUsedAgain() async throws {
        let server = try FaultServer { .echo($0) }
        for _ in 0..<5 { _ = try await transport.fetch(.to(server.authority)) }
        #expect(server.connectionCount == 1)
        #expect(server.receivedRequests.count == 5)
    }

    @Test
    func aResponseToHeadHasNoBody() async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"))
        let (head, body) = try await transport.fetch(.to(server.authority, .head))
        #expect(head.headerFields[.contentLength] == "1000")
        #expect(body.isEmpty)
    }

    @Test
    func aTrickledAnswerArrives() async throws {
        let server = try FaultServer(.trickle("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", milliseconds: 1))
        let (_, body) = try await transport.fetch(.to(server.authority))
        #expect(body == "abc")
    }
}
#endif
