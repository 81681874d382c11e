import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A server's refusal of an HTTP/2 stream must be told from a lost answer: the first is repeated, POST too.
///
/// The frames are written by hand over plain text, which libcurl speaks with prior knowledge.
@Suite(.timeLimit(.minutes(30)))
struct HTTP2Tests {
    private func transport() -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.speaksHTTP2WithPriorKnowledge = true
        return CurlTransport.patient(configuration)
    }

    /// Serves one connection: `answer` gets each stream's number and returns the frames to send.
    static func server(_ answer: @escaping @Sendable (UInt32) -> [UInt8]?) throws -> FaultServer {
        try FaultServer.http2 { stream, _ in
            answer(stream).map { HTTP2Answer($0) } ?? HTTP2Answer(then: .close)
        }
    }

    @Test
    func anAnswerArrives() async throws {
        let server = try Self.server { HTTP2Frame.ok($0) }
        let (head, _) = try await transport().fetch(.to(server.authority))
        #expect(head.status == .ok)
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func aRefusedStreamOnANewConnectionIsNotProcessed(method: HTTPRequest.Method) async throws {
        let server = try Self.server { HTTP2Frame.reset($0, code: 7) }
        let body = method == .post ? MessageBody("x") : nil
        let error = try await transport().failure(.to(server.authority, method), body)
        #expect(error.code == .streamRefused)
        #expect(error.certainty == .notProcessed)
        #expect(error.isTransient)
        #expect(server.receivedRequests.count == 1)
    }

    @Test(arguments: [UInt32(1), 2, 8, 11])
    func anotherResetIsUnknown(code: UInt32) async throws {
        let server = try Self.server { HTTP2Frame.reset($0, code: code) }
        let error = try await transport().failure(.to(server.authority, .post), MessageBody("x"))
        #expect(error.certainty == .unknown, "\(error)")
        #expect(server.receivedRequests.count == 1)
    }

    @Test
    func aLostConnectionIsUnknown() async throws {
        let server = try Self.server { _ in nil }
        let error = try await transport().failure(.to(server.authority, .post), MessageBody("x"))
        #expect(error.certainty == .unknown)
        #expect(server.receivedRequests.count == 1)
    }

    @Test
    func aStreamPastTheLastOneOfAGoAwayIsNotProcessed() async throws {
        let server = try Self.server { _ in HTTP2Frame.goAway(lastStream: 0) }
        let error = try await transport().failure(.to(server.authority, .post), MessageBody("x"))
        #expect(error.certainty == .notProcessed, "\(error)")
        #expect(server.receivedRequests.count == 1)
    }

    /// libcurl's log holds the request's own path and fields: what a caller writes there proves nothing.
    @Test(arguments: [
        ("/?note=REFUSED_STREAM", "x"), ("/refused%20by%20server,%20try%20again", "x"),
        ("/", "GOAWAY, error=0, last_stream=0"), ("/", "recveived GOAWAY, error=0, last_stream=0"),
        ("/", "REFUSED_STREAM, retrying a fresh connect"), ("/", "HTTP/2 stream 1 refused by server, try again"),
    ])
    func theRequestsOwnTextProvesNothing(path: String, value: String) async throws {
        let server = try Self.server { _ in nil }
        let request = HTTPRequest.to(server.authority, .post, path, headers: [.userAgent: value])
        let error = try await transport().failure(request, MessageBody("x"))
        #expect(error.certainty == .unknown, "\(error)")
        #expect(server.receivedRequests.count == 1)
    }

    /// The same on a connection that has served before, where libcurl would resend by itself.
    @Test
    func theRequestsOwnTextProvesNothingOnAUsedConnectionEither() async throws {
        let server = try Self.server { $0 == 1 ? HTTP2Frame.ok($0) : nil }
        let transport = transport()
        _ = try await transport.fetch(.to(server.authority))
        let fields: HTTPFields = [.userAgent: "GOAWAY, error=0, last_stream=0"]
        let request = HTTPRequest.to(server.authority, .post, "/?note=REFUSED_STREAM", headers: fields)
        let error = try await transport.failure(request, MessageBody("x"))
        #expect(error.certainty == .unknown, "\(error)")
    }

    @Test
    func aStreamWithinAGoAwayIsUnknown() async throws {
        let server = try Self.server { HTTP2Frame.goAway(lastStream: $0) + HTTP2Frame.reset($0, code: 2) }
        let error = try await transport().failure(.to(server.authority, .post), MessageBody("x"))
        #expect(error.certainty == .unknown, "\(error)")
    }
}
