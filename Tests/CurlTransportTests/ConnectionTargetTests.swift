import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// Where connections go: sockets of the machine, IPv6, elsewhere than the URL says.
@Suite(.timeLimit(.minutes(30)))
struct ConnectionTargetTests {
    /// Answers each request with its head.
    @Sendable private static func echo(_ connection: FaultServer.Connection, _: FaultServer.Gate) {
        var head: [UInt8] = []
        while let bytes = connection.read() {
            head += bytes
            guard head.suffix(4) == [13, 10, 13, 10] else { continue }
            connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(head.count)\r\n\r\n".utf8) + head)
            head = []
        }
    }

    // MARK: Unix-domain sockets

    @Test
    func aUnixSocketStandsForEveryHost() async throws {
        let server = try UnixServer()
        var configuration = CurlTransport.Configuration(proxy: .url("http://127.0.0.1:1"))
        configuration.unixSocketPath = server.path
        let transport = CurlTransport.patient(configuration)
        for host in ["docker.example", "other.example:8080", "localhost"] {
            let (head, body) = try await transport.fetch(.to(host, .get, "/v1%2finfo?"))
            #expect(head.status == .ok)
            #expect(body.hasPrefix("GET /v1%2finfo? HTTP/1.1\r\nHost: \(host)\r\n"), "\(body)")
        }
        await transport.shutdown()
    }

    /// Sockets of the Unix domain have no port that would tell one from the other.
    @Test(arguments: ["GET", Interposed.immediate])
    func whatAUnixSocketSaysUnaskedIsNoAnswer(method: String) async throws {
        let server = try UnixServer()
        Interposed.state.withLock { $0.answered[server.path] = server.answered }
        let transport = CurlTransport.patient(server.configuration)
        var events = server.events.makeAsyncIterator()
        let held = Task { try await transport.fetch(.to("x.example", .get, "/held")) }
        #expect(await events.next() == "/held")
        let speaks = HTTPRequest.to("x.example", try #require(.init(rawValue: method)), server.path)
        #expect(try await transport.fetch(speaks).head.status == .ok)
        server.gate.open()
        #expect(await events.next() == "spoken")
        let (head, body) = try await transport.fetch(.to("x.example", .post, "/next"))
        #expect(head.status == .ok)
        #expect(body.hasPrefix("POST /next HTTP/1.1\r\n"), "\(body)")
        held.cancel()
        await #expect(throws: CancellationError.self) { try await held.value }
        await transport.shutdown()
    }

    /// One has paused at once, as its answer came with its request; beside it others come and go.
    @Test
    func aBodyThatWaitsOnAUnixSocketStaysWhole() async throws {
        let server = try UnixServer()
        let transport = CurlTransport.patient(server.configuration)
        let slow = try await transport.send(.to("x.example", .get, "/large"), body: nil, options: AttemptOptions())
        for _ in 0..<20 { #expect(try await transport.fetch(.to("x.example", .get, "/a")).head.status == .ok) }
        #expect(try await slow.body.collect(upTo: 1 << 23).count == UnixServer.largeBody)
        await transport.shutdown()
    }

    @Test
    func anEarlyAnswerOfAUnixSocketIsRead() async throws {
        let server = try UnixServer()
        let transport = CurlTransport.patient(server.configuration)
        var events = server.events.makeAsyncIterator()
        let held = Task { try await transport.fetch(.to("x.example", .get, "/held")) }
        #expect(await events.next() == "/held")
        for _ in 0..<20 {
            let body = MessageBody([UInt8](repeating: 0x61, count: 4 << 20))
            #expect(try await transport.fetch(.to("x.example", .post, "/refused"), body).head.status == .unauthorized)
        }
        held.cancel()
        await #expect(throws: CancellationError.self) { try await held.value }
        await transport.shutdown()
    }

    @Test
    func aUnixSocketThatIsNotThereSendsNothing() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.unixSocketPath = "/nonexistent/socket"
        let error = try await CurlTransport.patient(configuration).failure(.to("x.example", .post), MessageBody("x"))
        #expect(error.code == .cannotConnect)
        #expect(error.certainty == .neverSent)
        #expect(error.isTransient)
    }

    @Test(arguments: [0, 108, 5000])
    func aPathThatNoSocketCanHaveIsAMisconfiguration(length: Int) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.unixSocketPath = String(repeating: "a", count: length)
        let error = try await CurlTransport.patient(configuration).failure(.to("x.example"))
        #expect(error.code == .misconfigured)
        #expect(error.certainty == .neverSent)
    }

    // MARK: Address families

    /// The server listens on 127.0.0.1 alone, which `localhost` is on every machine.
    @Test(arguments: [(CurlTransport.AddressFamily.any, true), (.ipv4, true), (.ipv6, false)])
    func onlyAddressesOfTheFamilyAreTaken(family: CurlTransport.AddressFamily, isReached: Bool) async throws {
        let server = try FaultServer(.answer(body: "here"))
        var configuration = CurlTransport.Configuration()
        configuration.addressFamily = family
        let transport = CurlTransport.patient(configuration)
        let request = HTTPRequest.to("localhost:\(server.port)", .post, "/")
        if isReached {
            #expect(try await transport.fetch(request).1 == "here")
        } else {
            let error = try await transport.failure(request)
            #expect([.cannotResolve, .cannotConnect].contains(error.code) && error.certainty == .neverSent)
            #expect(server.connectionCount == 0)
        }
        await transport.shutdown()
    }

    // MARK: IPv6

    static let hasIPv6 = SocketAddress(listening: "[::1]:0").map { (try? SocketServer($0) { _, _ in }) != nil } ?? false

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6 loopback interface"))
    func anIPv6LiteralIsReached() async throws {
        let server = try SocketServer(try #require(SocketAddress(listening: "[::1]:0")), serve: Self.echo)
        let (head, body) = try await CurlTransport.patient().fetch(.to(server.address.text, .get, "/a"))
        #expect(server.address.text.hasPrefix("[::1]:"))
        #expect(head.status == .ok)
        #expect(body.hasPrefix("GET /a HTTP/1.1\r\nHost: \(server.address.text)\r\n"), "\(body)")
        server.stop()
    }

    @Test
    func anIPv6LiteralWithoutAServerIsNeverSent() async throws {
        let error = try await CurlTransport.patient().failure(.to("[::1]:1"))
        #expect(error.code == .cannotConnect)
        #expect(error.certainty == .neverSent)
    }

    // MARK: Overrides

    @Test
    func aConnectionGoesElsewhereAndTheRequestStays() async throws {
        let server = try FaultServer { .echo($0) }
        var configuration = CurlTransport.Configuration()
        configuration.connectionOverrides = [
            .init(from: "api.example.com:80", to: server.authority),
            .init(from: "any-port.example.com", to: server.authority),
        ]
        let transport = CurlTransport.patient(configuration)
        for host in ["api.example.com", "any-port.example.com:8080", "any-port.example.com:9"] {
            let (_, body) = try await transport.fetch(.to(host, .get, "/x"))
            #expect(body.hasPrefix("GET /x HTTP/1.1\r\nHost: \(host)\r\n"), "\(body)")
        }
        // The port is another one than the first override is for.
        let error = try await transport.failure(.to("api.example.com.invalid:81"))
        #expect(error.code == .cannotResolve)
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func theCertificateIsVerifiedForTheHostOfTheURL() async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port, name: "DNS:api.example.com")
        var configuration = CurlTransport.Configuration(caFile: front.caFile)
        configuration.connectionOverrides = [.init(from: "", to: front.authority)]
        let transport = CurlTransport.patient(configuration)
        #expect(try await transport.fetch(.to("api.example.com", scheme: "https")).head.status == .ok)
        let error = try await transport.failure(.to("other.example.com", scheme: "https"))
        #expect(error.code == .certificateRejected)
        withExtendedLifetime(front) {}
    }

    @Test(arguments: [
        ("a:80", "b:81", "a:80:b:81"), ("a", "b", "a::b:"), ("", "[::1]:8443", "::[::1]:8443"),
        ("[::1]", "[fe80::1]", "[::1]::[fe80::1]:"), ("a:0", "b", "a:0:b:"),
        ("a", ":80", "a:::80"), ("a", "", nil), ("a", ":", nil), ("a:b", "c", nil), ("a:80:c", "d", nil),
        ("a", "b:99999", nil),
        ("a", "b:-1", nil), ("::1", "b", nil), ("a", "b\nc", nil), ("a", "ü", nil), ("a:", "b", nil),
    ])
    func anOverrideIsReadStrictly(source: String, target: String, option: String?) async throws {
        let override = CurlTransport.ConnectionOverride(from: source, to: target)
        #expect(override.option == option)
        guard option == nil else { return }
        var configuration = CurlTransport.Configuration()
        configuration.connectionOverrides = [override]
        let error = try await CurlTransport.patient(configuration).failure(.to("a"))
        #expect(error.code == .misconfigured)
        #expect(error.certainty == .neverSent)
    }
}

/// An HTTP server on a unix-domain socket that answers each request with its head, but for those to paths that it knows.
private final class UnixServer: Sendable {
    static let largeBody = 4 << 20

    let path: String
    /// Opened when it has answered the request to its own path.
    let answered = FaultServer.Gate()
    /// What it waits for before it says something unasked on that one's connection.
    let gate = FaultServer.Gate()
    /// The request to `/held`, which is not answered, and `spoken`.
    let events: AsyncStream<String>
    private let listener: Int32

    var configuration: CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        configuration.unixSocketPath = path
        return configuration
    }

    init() throws {
        path = "/tmp/unix-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < 108)
        // The bytes fit into the field, and the storage is zero behind them.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0 && listen(listener, 16) == 0)
        self.listener = listener
        let (path, answered, gate) = (path, answered, gate)
        let (events, told) = AsyncStream<String>.makeStream()
        self.events = events
        _ = SystemThread.run {
            Self.serve(listener, told) { asked, socket in
                guard asked == path else { return }
                answered.open()
                gate.wait()
                _ = Self.write("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", to: socket)
                told.yield("spoken")
            }
        }
    }

    deinit {
        _ = shutdown(listener, Int32(SHUT_RDWR))
        _ = unsafe unlink(path)
    }

    /// Each connection on a thread of its own, until the listener is shut down.
    private static func serve(
        _ listener: Int32,
        _ told: AsyncStream<String>.Continuation,
        afterAnswer: @escaping @Sendable (_ path: Substring, _ socket: Int32) -> Void
    ) {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { break }
            _ = SystemThread.run {
                var head: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = unsafe read(socket, &buffer, buffer.count)
                    guard count > 0 else { break }
                    head += buffer[..<count]
                    let path = String(decoding: head, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
                    if path == "/refused" {
                        _ = write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", to: socket)
                        break
                    }
                    guard head.suffix(4) == [13, 10, 13, 10] else { continue }
                    let body = path == "/large" ? [UInt8](repeating: 0x61, count: largeBody) : head
                    head = []
                    if path == "/held" {
                        told.yield("/held")
                        continue
                    }
                    let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n"
                    guard write(answer, to: socket), write(body, to: socket) else { break }
                    afterAnswer(path, socket)
                }
                close(socket)
            }
        }
        close(listener)
    }

    private static func write(_ text: String, to socket: Int32) -> Bool { write(Array(text.utf8), to: socket) }

    private static func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
