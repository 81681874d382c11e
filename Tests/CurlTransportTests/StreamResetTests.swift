import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// A server of HTTP/2 hears that nobody waits for its answer any more.
@Suite(.enabled(if: TLSFront.isAvailable), .timeLimit(.minutes(30)))
struct StreamResetTests {
    /// A stream's header fields are recorded as `HEADERS`, and its reset as `RST_STREAM`.
    ///
    /// - Parameter fields: Those of the head that a stream is answered with, and nothing else; nil if it is not at all.
    private static func server(answering fields: [(name: String, value: String)]? = nil) throws -> FaultServer {
        try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(HTTP2Frame.settings)
                    while let frame = HTTP2Frame.read(from: connection) {
                        let path = "/\(frame.stream)"
                        switch frame.type {
                        case 1:
                            connection.record(.init(method: "HEADERS", path: path, connection: connection.id))
                            guard let fields else { continue }
                            connection.write(HTTP2Frame.headers(frame.stream, fields, endsStream: false))
                        case 3: connection.record(.init(method: "RST_STREAM", path: path, connection: connection.id))
                        case 4 where frame.flags & 1 == 0: connection.write(HTTP2Frame.settingsAck)
                        default: break
                        }
                    }
                }
            },
            reply: { _ in .answer() }
        )
    }

    private static func transport(to front: TLSFront, maxHeaderBytes: Int = 65_536) -> CurlTransport {
        .patient(.init(httpVersion: .http2, caFile: front.caFile, maxHeaderBytes: maxHeaderBytes))
    }

    /// Alone on its connection: where libcurl keeps the reset for itself, the connection is given up with it.
    private static func expectNews(at server: FaultServer) async throws {
        guard Libcurl.sendsResets else { return try await server.hangups(count: 1) }
        let seen = try await server.requests(count: 2)
        #expect(seen.map(\.method) == ["HEADERS", "RST_STREAM"])
    }

    @Test func cancelledAlone() async throws {
        let server = try Self.server()
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = Self.transport(to: front)
        let task = Task { try await transport.fetch(.to(front.authority, scheme: "https")) }
        _ = try await server.requests(count: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await Self.expectNews(at: server)
        await transport.shutdown()
    }

    @Test func timedOutAlone() async throws {
        let server = try Self.server()
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = Self.transport(to: front)
        var timeout = Duration.milliseconds(100)
        // Where the machine is so busy that nothing was sent there is nothing to give up.
        while server.receivedRequests.isEmpty {
            timeout *= 2
            _ = try await transport.failure(.to(front.authority, scheme: "https"), timeout: timeout)
        }
        try await Self.expectNews(at: server)
        await transport.shutdown()
    }

    /// A body would come for as long as there is room for it.
    @Test func refusedAlone() async throws {
        let server = try Self.server(answering: [("x-large", String(repeating: "a", count: 9000))])
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = Self.transport(to: front, maxHeaderBytes: 8192)
        let error = try await transport.failure(.to(front.authority, scheme: "https"))
        #expect(error.code == .headersTooLarge)
        try await Self.expectNews(at: server)
        await transport.shutdown()
    }

    /// Others on the connection go on, and with what is sent next for one of them the reset goes out at the latest.
    @Test func besideOthers() async throws {
        let server = try Self.server()
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let request = HTTPRequest.to(front.authority, scheme: "https")
        let transport = Self.transport(to: front)
        let staying = Task { try await transport.fetch(request) }
        _ = try await server.requests(count: 1)
        let leaving = Task { try await transport.fetch(request) }
        _ = try await server.requests(count: 2)
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        // 7.88 reads nothing that would make it look after what it has to send.
        let next = Libcurl.number < 0x080100 ? Task { try await transport.fetch(request) } : nil
        while !server.receivedRequests.contains(where: { $0.method == "RST_STREAM" }) {
            _ = try await server.requests(count: server.receivedRequests.count + 1)
        }
        #expect(server.receivedRequests.first { $0.method == "RST_STREAM" }?.path == "/3")
        #expect(server.connectionCount == 1)
        staying.cancel()
        next?.cancel()
        await transport.shutdown()
    }
}
