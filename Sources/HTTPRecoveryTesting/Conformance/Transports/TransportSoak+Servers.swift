import Glibc
import HTTPRecovery

/// The servers of a soak, each by two names, and what a transport has to know to reach them.
struct SoakOrigins: Sendable {
    struct Origin: Sendable {
        let scheme: String
        let authority: String
    }

    let origins: [Origin]
    /// Certificates of all of them, in one file; nil without TLS.
    let authorities: JoinedFile?
    private let servers: [FaultServer]
    private let owners: [any Sendable]

    /// Starts so many servers, behind something that ends TLS unless they are to speak plain HTTP/1.1.
    static func start(
        _ count: Int,
        _ subject: TransportUnderTest,
        _ way: TransportSoak.Way
    ) async throws -> SoakOrigins {
        let isHTTP2 = way == .http2
        let servers = try (0..<count).map { _ in try isHTTP2 ? http2Server() : http1Server() }
        guard way != .http1 else {
            return SoakOrigins(origins(of: servers.map(\.port), "http"), nil, servers, [])
        }
        guard let terminate = subject.terminate else { throw ConformanceFailure("there is nothing that ends TLS") }
        var fronts: [TransportUnderTest.TLSEndpoint] = []
        for server in servers {
            let name = "IP:127.0.0.1,DNS:localhost"
            let protocols = [isHTTP2 ? "h2" : "http/1.1"]
            fronts.append(try await terminate(.init(port: server.port, protocols: protocols, subject: name)))
        }
        let file = try await JoinedFile(fronts.map(\.caFile))
        return SoakOrigins(origins(of: fronts.map(\.port), "https"), file, servers, fronts.map(\.owner))
    }

    private init(
        _ origins: [Origin],
        _ authorities: JoinedFile?,
        _ servers: [FaultServer],
        _ owners: [any Sendable]
    ) {
        (self.origins, self.authorities, self.servers, self.owners) = (origins, authorities, servers, owners)
    }

    private static func origins(of ports: [Int], _ scheme: String) -> [Origin] {
        ports.flatMap { port in
            ["127.0.0.1", "localhost"].map { Origin(scheme: scheme, authority: "\($0):\(port)") }
        }
    }

    /// Lets go of what has arrived.
    func forget() {
        for server in servers { server.forget() }
    }

    /// Ends every connection: a server that has not read what it was sent does not see that the client has gone.
    func hangUp() {
        for server in servers { server.hangUp() }
    }

    func stop() {
        for server in servers { server.stop() }
    }
}

// More than half of the answers are faults.
extension SoakOrigins {
    private static func http1Server() throws -> FaultServer {
        let large = [UInt8](repeating: 7, count: 300_000)
        return try FaultServer(
            plan: { number in
                switch number % 20 {
                case 0: .reset(afterBytes: 10)
                case 1: .close(afterBytes: 40)
                case 2: .stall
                case 3, 8, 13, 18: .answerWithoutReadingBodies
                default: .serve
                }
            },
            reply: { request in
                switch (Int(request.path.dropFirst()) ?? 0) % 16 {
                case 0: .stall
                case 1: .close
                case 2: .reset
                case 3: .shortBody
                case 4: .truncatedChunks
                case 5: .resetInBody
                case 6: .garbage
                case 7: .finInHeaders
                case 8: .raw("HTTP/1.1 200 OK\r\n\r\n").then(.endless("more and more"))
                case 9: .answer(413, headers: [("Connection", "close")], body: "too large")
                case 12, 13: .answer(401, headers: [("Connection", "close")], body: "who are you").then(.close)
                case 10, 11: .answer(bytes: large)
                default: .answer(body: "fine")
                }
            }
        )
    }

    /// What ends a connection, and with it all that is under way there, is rarer.
    private static func http2Server() throws -> FaultServer {
        try FaultServer.http2 { stream, index in
            switch index % 40 {
            case 1: .init(then: .close)
            case 8: .init(then: .reset)
            case 15: .init(Array("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8))
            case 22: .init(HTTP2Frame.goAway(lastStream: stream) + HTTP2Frame.ok(stream))
            case 29: .init(HTTP2Frame.goAway(lastStream: 0), then: .close)
            case 36: .init(then: .endless(HTTP2Frame.headers(stream, status: "103", endsStream: false)))
            case 3, 13, 23: .init()
            case 5, 25: .init(HTTP2Frame.beginning(stream))
            case 6, 16: .init(HTTP2Frame.reset(stream, code: 7))
            case 7, 17, 27: .init(HTTP2Frame.beginning(stream) + HTTP2Frame.reset(stream, code: 8))
            case 9, 19: .init(HTTP2Frame.beginning(stream) + HTTP2Frame.data(stream, [], endsStream: true))
            case 11, 31: .init(HTTP2Frame.headers(stream, status: "413", endsStream: true))
            default: .init(HTTP2Frame.beginning(stream) + HTTP2Frame.data(stream, "defghi".utf8, endsStream: true))
            }
        }
    }
}

/// One file of several, removed with its object.
final class JoinedFile: Sendable {
    let path: String

    init(_ paths: [String]) async throws {
        var bytes: [UInt8] = []
        for path in paths { bytes += try await MessageBody(file: path).collect(upTo: 1 << 20) }
        var name = Array("/tmp/authorities-XXXXXX".utf8CString)
        let descriptor = unsafe mkstemp(&name)
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard descriptor >= 0 else { throw ConformanceFailure("no temporary file") }
        defer { close(descriptor) }
        // The array lives until the call has returned.
        guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
            throw ConformanceFailure("\(path) cannot be written")
        }
    }

    deinit {
        _ = unsafe unlink(path)
    }
}
