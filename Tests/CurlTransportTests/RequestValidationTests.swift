import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What cannot be sent is refused before anything happens.
struct RequestValidationTests {
    static let bad: [(String, HTTPRequest)] = [
        ("no scheme", HTTPRequest(method: .get, scheme: nil, authority: "a", path: "/")),
        ("a scheme that is not HTTP", .to("a", scheme: "ftp")),
        ("no authority", HTTPRequest(method: .get, scheme: "http", authority: nil, path: "/")),
        ("an empty authority", .to("")),
        ("user information", .to("user:secret@127.0.0.1")),
        ("a space in the authority", .to("a b")),
        ("a line break in the authority", .to("a\r\nX-Injected: 1")),
        ("a slash in the authority", .to("a/b")),
        ("a port out of range", .to("127.0.0.1:99999")),
        ("a name beyond ASCII", .to("b\u{fc}cher.example")),
        ("a relative path", .to("127.0.0.1:1", .get, "a")),
        ("a space in the path", .to("127.0.0.1:1", .get, "/a b")),
        ("a line break in the path", .to("127.0.0.1:1", .get, "/ HTTP/1.1\r\nX-Injected: 1")),
        ("CONNECT", .to("127.0.0.1:1", .connect)),
    ]

    @Test(arguments: bad.indices)
    func isRefusedUnsent(index: Int) async throws {
        let (what, request) = Self.bad[index]
        let error = try await CurlTransport.patient().failure(request)
        #expect(error.code == .invalidRequest, "\(what): \(error)")
        #expect(error.certainty == .neverSent)
        #expect(!error.isTransient)
        #expect(!error.description.contains("secret"))
    }

    @Test
    func aHeadRequestWithABodyIsRefused() async throws {
        let error = try await CurlTransport.patient().failure(.to("127.0.0.1:1", .head), MessageBody("x"))
        #expect(error.code == .invalidRequest)
    }

    @Test
    func aFieldCannotSmuggleAnother() async throws {
        let server = try FaultServer { .echo($0) }
        var request = HTTPRequest.to(server.authority)
        let name = try #require(HTTPField.Name("X-Value"))
        // The type itself turns line breaks into spaces; nothing of it may come back on the wire.
        request.headerFields.append(HTTPField(name: name, value: "a\r\nX-Injected: 1"))
        request.headerFields.append(HTTPField(name: name, lenientValue: Array("b\r\n\r\nGET /x HTTP/1.1".utf8)))
        request.headerFields.append(HTTPField(name: try #require(HTTPField.Name("X-Empty")), value: ""))
        let (_, body) = try await CurlTransport.patient().fetch(request)
        #expect(server.receivedRequests.count == 1)
        #expect(!body.contains("\r\nX-Injected"))
        #expect(body.contains("\r\nX-Empty:"))
    }

    @Test
    func theCallersFramingIsOurs() async throws {
        let server = try FaultServer { .echo($0) }
        var request = HTTPRequest.to(server.authority, .post)
        request.headerFields[.contentLength] = "999"
        request.headerFields[.transferEncoding] = "chunked"
        request.headerFields[.expect] = "100-continue"
        request.headerFields.append(HTTPField(name: try #require(HTTPField.Name("Host")), value: "elsewhere.example"))
        _ = try await CurlTransport.patient().fetch(request, MessageBody("four"))
        let received = try #require(server.receivedRequests.first)
        #expect(received.headers[values: .contentLength] == ["4"])
        #expect(received.headers[.transferEncoding] == nil)
        #expect(received.headers[values: try #require(HTTPField.Name("Host"))] == [server.authority])
        #expect(received.text == "four")
    }
}
