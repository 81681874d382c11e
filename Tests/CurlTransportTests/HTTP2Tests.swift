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
        try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(Frame.settings)
                    while let frame = Frame.read(from: connection) {
                        if frame.type == 4, frame.flags & 1 == 0 { connection.write(Frame.settingsAck) }
                        // The request is whole with END_STREAM, on HEADERS or DATA. An answer before that can stall
                        // libcurl 7.88.
                        if frame.type <= 1, frame.flags & 1 == 1 {
                            connection.record(.init(method: "", path: "/\(frame.stream)", connection: connection.id))
                            guard let bytes = answer(frame.stream) else { return connection.close() }
                            connection.write(bytes)
                        }
                    }
                }
            },
            reply: { _ in .answer() }
        )
    }

    @Test
    func anAnswerArrives() async throws {
        let server = try Self.server { Frame.ok($0) }
        let (head, _) = try await transport().fetch(.to(server.authority))
        #expect(head.status == .ok)
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func aRefusedStreamOnANewConnectionIsNotProcessed(method: HTTPRequest.Method) async throws {
        let server = try Self.server { Frame.reset($0, code: 7) }
        let body = method == .post ? MessageBody("x") : nil
        let error = try await transport().failure(.to(server.authority, method), body)
        #expect(error.code == .streamRefused)
        #expect(error.certainty == .notProcessed)
        #expect(error.isTransient)
        #expect(server.receivedRequests.count == 1)
    }

    @Test(arguments: [UInt32(1), 2, 8, 11])
    func anotherResetIsUnknown(code: UInt32) async throws {
        let server = try Self.server { Frame.reset($0, code: code) }
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
        let server = try Self.server { _ in Frame.goAway(lastStream: 0) }
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
        let server = try Self.server { $0 == 1 ? Frame.ok($0) : nil }
        let transport = transport()
        _ = try await transport.fetch(.to(server.authority))
        let fields: HTTPFields = [.userAgent: "GOAWAY, error=0, last_stream=0"]
        let request = HTTPRequest.to(server.authority, .post, "/?note=REFUSED_STREAM", headers: fields)
        let error = try await transport.failure(request, MessageBody("x"))
        #expect(error.certainty == .unknown, "\(error)")
    }

    @Test
    func aStreamWithinAGoAwayIsUnknown() async throws {
        let server = try Self.server { Frame.goAway(lastStream: $0) + Frame.reset($0, code: 2) }
        let error = try await transport().failure(.to(server.authority, .post), MessageBody("x"))
        #expect(error.certainty == .unknown, "\(error)")
    }
}

/// The few frames that the tests need (RFC 9113, section 6).
struct Frame {
    var type: UInt8
    var flags: UInt8
    var stream: UInt32
    var payload: [UInt8] = []

    static let settings = bytes(type: 4, flags: 0, stream: 0, [])
    static let settingsAck = bytes(type: 4, flags: 1, stream: 0, [])

    /// HEADERS with `:status: 200` (index 8 of HPACK's static table), ending headers and stream.
    static func ok(_ stream: UInt32) -> [UInt8] { bytes(type: 1, flags: 5, stream: stream, [0x88]) }

    static func reset(_ stream: UInt32, code: UInt32) -> [UInt8] { bytes(type: 3, flags: 0, stream: stream, big(code)) }

    static func goAway(lastStream: UInt32) -> [UInt8] {
        bytes(type: 7, flags: 0, stream: 0, big(lastStream) + big(0))
    }

    static func read(from connection: FaultServer.Connection) -> Frame? {
        guard let head = connection.read(exactly: 9) else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let stream = UInt32(head[5] & 0x7f) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
        guard let payload = length == 0 ? [] : connection.read(exactly: length) else { return nil }
        return Frame(type: head[3], flags: head[4], stream: stream, payload: payload)
    }

    static func bytes(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        return Array(big(length).dropFirst()) + [type, flags] + big(stream) + payload
    }

    static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}
