import CurlTransport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// Large request bodies: from memory, from a file, from a stream; and servers that answer before they have read them.
@Suite(.timeLimit(.minutes(30)))
struct UploadTests {
    enum Source: CaseIterable {
        case bytes, file, stream
    }

    private static let size = 1 << 20
    private static let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    /// Hands out a body of 1 MiB; a file is removed afterwards.
    private static func withBody(_ source: Source, _ use: (MessageBody) async throws -> Void) async throws {
        switch source {
        case .bytes: try await use(MessageBody(content))
        case .stream:
            let chunks = stride(from: 0, to: size, by: 50_000).map { content[$0..<min($0 + 50_000, size)] }
            try await use(
                MessageBody(
                    once: AsyncStream { continuation in
                        for chunk in chunks { continuation.yield(chunk) }
                        continuation.finish()
                    }
                )
            )
        case .file:
            let path = "/tmp/upload-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            defer { _ = unsafe unlink(path) }
            // The array lives until the call has returned.
            let count = unsafe write(descriptor, content, size)
            close(descriptor)
            try #require(count == size)
            try await use(MessageBody(file: path))
        }
    }

    @Test(arguments: Source.allCases)
    func aMebibyteArrivesWhole(source: Source) async throws {
        let server = try FaultServer(.answer())
        let transport = CurlTransport.patient()
        try await Self.withBody(source) { body in
            _ = try await transport.fetch(.to(server.authority, .put), body)
        }
        let request = try #require(server.receivedRequests.first)
        #expect(request.body == Self.content)
        let isStream = source == .stream
        #expect(request.headers[.contentLength] == (isStream ? nil : "\(Self.size)"))
        #expect(request.headers[.transferEncoding] == (isStream ? "chunked" : nil))
    }

    @Test
    func aFileIsReadAnewForEachAttempt() async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "0")]), .answer())
        let client = RecoveringClient.patient(CurlTransport.patient())
        try await Self.withBody(.file) { body in
            let response = try await client.send(.to(server.authority, .put), body: body)
            #expect(response.status == .ok)
        }
        #expect(server.receivedRequests.count == 2)
        #expect(server.receivedRequests.allSatisfy { $0.body == Self.content })
    }

    // MARK: Early answers

    enum Ending: CaseIterable {
        /// The server reads on after its answer, to its end.
        case fin
        /// It closes with bytes unread, which resets the connection.
        case close
        case stall
    }

    /// The answer is the server's word about the request: it must not be lost because the rest could not be sent.
    @Test(arguments: Source.allCases, Ending.allCases)
    func anEarlyAnswerIsKept(source: Source, ending: Ending) async throws {
        for status in [401, 413, 429] {
            let answer = FaultServer.Reply.answer(status, headers: [("Connection", "close")], body: "no")
            let server = try FaultServer(
                plan: { _ in .answerWithoutReadingBodies },
                reply: { _ in
                    switch ending {
                    case .fin: answer.then(.finish)
                    case .close: answer.then(.close)
                    case .stall: answer.then(.stall)
                    }
                }
            )
            let transport = CurlTransport.patient()
            try await Self.withBody(source) { body in
                let (head, text) = try await transport.fetch(.to(server.authority, .post), body)
                #expect(head.status.code == status)
                #expect(text == "no")
            }
            #expect(server.receivedRequests.count == 1)
            await transport.shutdown()
        }
    }

    /// libcurl goes on to send a request that has succeeded already, until the server ends it.
    @Test(arguments: ["fin", "reset", "stall"])
    func aSuccessThatIsWholeIsKeptThoughTheServerReadsNoMore(end: String) async throws {
        let gate = FaultServer.Gate()
        let answer = FaultServer.Reply.answer(body: "ok").then(.wait(for: gate))
        let server = try FaultServer(
            plan: { _ in .answerWithoutReadingBodies },
            reply: { _ in answer.then(end == "fin" ? .close : end == "reset" ? .reset : .stall) }
        )
        let transport = CurlTransport.patient()
        let body = MessageBody([UInt8](repeating: 1, count: 32 << 20))
        // Nothing but the attempt's time ends it where the server says no more.
        let options = AttemptOptions(timeout: end == "stall" ? .seconds(2) : nil)
        let response = try await transport.send(.to(server.authority, .post), body: body, options: options)
        #expect(response.head.status == .ok)
        gate.open()
        #expect(try await response.body.collect(upTo: 9) == Array("ok".utf8))
        #expect(server.receivedRequests.count == 1)
        await transport.shutdown()
    }

    /// About one in ten of these answers comes while libcurl writes, and the write fails.
    ///
    /// On a used connection libcurl then takes the connection for a stale one, and opens another, which is not used. Whether the
    /// connection that has just answered is used again is libcurl's decision: on a busy machine it is not, now and then.
    @Test(arguments: [false, true])
    func noEarlyAnswerIsLost(isOnUsedConnection: Bool) async throws {
        let early = try #require(HTTPField.Name("X-Early"))
        let server = try FaultServer(
            plan: { _ in .answerWithoutReadingBodies },
            reply: { request in
                if request.method == "GET" { return .answer() }
                return .answer(401, headers: [("Connection", "close"), ("X-Early", "1")], body: "no").then(.close)
            }
        )
        var configuration = CurlTransport.Configuration()
        configuration.reportsMetrics = true
        let transport = CurlTransport.patient(configuration)
        var onUsed = 0
        for _ in 0..<300 {
            if isOnUsedConnection { _ = try await transport.fetch(.to(server.authority)) }
            let body = MessageBody(Self.content)
            let response = try await transport.send(.to(server.authority, .post), body: body, options: AttemptOptions())
            #expect(response.head.status == .unauthorized)
            #expect(response.head.headerFields[early] == "1")
            #expect(try await response.body.collect(upTo: 10) == Array("no".utf8))
            #expect(response.metrics?.wireAttempts == 1)
            if response.metrics?.isConnectionReused == true { onUsed += 1 }
            #expect(response.metrics?.remoteAddress == "127.0.0.1")
        }
        let posts = server.receivedRequests.filter { $0.method == "POST" }
        #expect(posts.count == 300)
        #expect(isOnUsedConnection ? onUsed > 250 : onUsed == 0)
        await transport.shutdown()
    }

    /// The same over TLS, where only the connection's own session can read what has come.
    @Test(.enabled(if: TLSFront.isAvailable), arguments: ["TLSv1_2", "TLSv1_3"])
    func noEarlyAnswerIsLostOverTLS(version: String) async throws {
        let answer = #"HTTP/1.1 401 No\r\nConnection: close\r\nX-Early: 1\r\nContent-Length: 2\r\n\r\nno"#
        let settings = """
            context.minimum_version = context.maximum_version = ssl.TLSVersion.\(version)
            early = b"\(answer)"
            """
        let front = try await TLSFront.start(port: 1, settings: settings)
        let early = try #require(HTTPField.Name("X-Early"))
        let transport = CurlTransport.patient(.init(caFile: front.caFile))
        for _ in 0..<100 {
            let request = HTTPRequest.to(front.authority, .post, scheme: "https")
            let body = MessageBody(Self.content)
            let response = try await transport.send(request, body: body, options: AttemptOptions())
            #expect(response.head.status == .unauthorized)
            #expect(response.head.headerFields[early] == "1")
            #expect(try await response.body.collect(upTo: 10) == Array("no".utf8))
        }
        withExtendedLifetime(front) {}
        await transport.shutdown()
    }
}
