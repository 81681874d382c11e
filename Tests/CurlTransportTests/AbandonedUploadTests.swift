import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// The server's end is heard while a request's body waits for its source, which may have nothing for long.
@Suite(.timeLimit(.minutes(30)))
struct AbandonedUploadTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What the server sends, in pieces that it knows to have come one by one, before it closes.
        var pieces: [String] = []
        var body: String?
        var error: TransportError.Code?
        var certainty = TransportError.Certainty.answered
    }

    private static let rows = [
        Row(testDescription: "nothing", error: .connectionLost, certainty: .unknown),
        Row(
            testDescription: "an interim response",
            pieces: ["HTTP/1.1 102 Processing\r\n\r\n"],
            error: .connectionLost,
            certainty: .unknown
        ),
        Row(testDescription: "half a head", pieces: ["HTTP/1.1 413 No\r\nContent-Le"], error: .truncated),
        Row(testDescription: "413, to the end", pieces: ["HTTP/1.1 413 No\r\nConnection: close\r\n\r\nno"], body: "no"),
        Row(
            testDescription: "413, chunked",
            pieces: [
                "HTTP/1.1 413 No\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n", "0\r\n\r\n",
            ],
            body: "no"
        ),
        Row(
            testDescription: "413, chunked and cut",
            pieces: ["HTTP/1.1 413 No\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n"],
            error: .truncated
        ),
        Row(testDescription: "200, whole", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"], body: "ok"),
        Row(testDescription: "200, cut", pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"], error: .truncated),
        Row(
            testDescription: "200, chunked and cut",
            pieces: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"],
            error: .truncated
        ),
        // The end comes once the answer is read.
        Row(
            testDescription: "200, chunked",
            pieces: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", ""],
            body: "ok"
        ),
        Row(
            testDescription: "200, and what nobody asked for",
            pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 408 No\r\n\r\n"],
            body: "ok"
        ),
        Row(
            testDescription: "200 of HTTP/1.0",
            pieces: ["HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok"],
            body: "ok"
        ),
        Row(testDescription: "204", pieces: ["HTTP/1.1 204 No Content\r\n\r\n"], body: ""),
    ]

    private static func serve(_ connection: FaultServer.Connection, _ row: Row, _ gate: FaultServer.Gate) {
        var bytes: [UInt8] = []
        // All that comes is read: what is left would reset the connection.
        while !bytes.ends(with: "first\r\n") {
            guard let more = connection.read() else { return }
            bytes += more
            guard bytes.starts(with: "GET".utf8), bytes.ends(with: "\r\n\r\n") else { continue }
            connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
            bytes = []
        }
        for piece in row.pieces.dropLast() {
            connection.write(Array(piece.utf8))
            gate.wait()
        }
        if let last = row.pieces.last { connection.write(Array(last.utf8)) }
        connection.close()
    }

    enum Way: CaseIterable {
        case newConnection
        case usedConnection
        /// The end of TLS and that of the connection come one after the other.
        case tls
    }

    private static let announcing = """
        announces, unwrap = True, ssl.SSLSocket.unwrap
        def announce(end):
            end.setblocking(False)
            unwrap(end)
        ssl.SSLSocket.unwrap = announce
        """

    @Test(arguments: rows, Way.allCases)
    func theEndIsHeard(row: Row, way: Way) async throws {
        guard way != .tls || TLSFront.isAvailable else { return }
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            plan: { _ in .raw { connection in Self.serve(connection, row, gate) } },
            reply: { _ in .stall }
        )
        let front = way == .tls ? try await TLSFront.start(port: server.port, settings: Self.announcing) : nil
        let transport = CurlTransport.patient(.init(caFile: front?.caFile))
        if way == .usedConnection { _ = try await transport.fetch(.to(server.authority)) }
        let scheme = front == nil ? "http" : "https"
        let request = HTTPRequest.to(front?.authority ?? server.authority, .post, scheme: scheme)
        // It is never finished.
        let source = ChunkSource()
        source.send("first")
        let body = MessageBody(once: source.stream)
        let result: Result<String, TransportError>
        do {
            let response = try await transport.send(request, body: body, options: AttemptOptions())
            if row.pieces.count > 1 { gate.open() }
            result = .success(String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self))
        } catch let error as TransportError {
            result = .failure(error)
        }
        switch result {
        case .success(let text): #expect(text == row.body)
        case .failure(let error):
            #expect(row.error == error.code, "\(error)")
            #expect(row.certainty == error.certainty)
        }
        withExtendedLifetime((source, front)) {}
        await transport.shutdown()
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
