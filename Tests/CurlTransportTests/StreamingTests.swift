import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Bodies that flow, wait, fail or are dropped.
@Suite(.timeLimit(.minutes(30)))
struct StreamingTests {
    @Test
    func aResponseIsReadWhileItComes() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc").then(.wait(for: gate)).then(.raw("def"))
        )
        let transport = CurlTransport.patient()
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        #expect(response.head.status == .ok)
        #expect(response.body.length == 6)
        var text = ""
        for try await chunk in response.body {
            text += String(decoding: chunk, as: UTF8.self)
            gate.open()
        }
        #expect(text == "abcdef")
        // A stream passes by once.
        #expect(!response.body.canBeRead)
    }

    /// Whoever collects is not resumed for each piece, however small the transport's buffer is.
    @Test
    func whoCollectsGetsTheBodyInOnePiece() async throws {
        let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try FaultServer(.answer(bytes: bytes))
        var configuration = CurlTransport.Configuration()
        configuration.maxBufferedBytes = 16_384
        let transport = CurlTransport.patient(configuration)
        for _ in 0..<3 {
            let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next(atLeast: 1 << 20)?.count ?? 0 >= 1 << 20)
            var rest: [Int] = []
            while let piece = try await iterator.next(atLeast: .max) { rest.append(piece.count) }
            #expect(rest.count == 1)
        }
        let whole = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        #expect(try await whole.body.collect(upTo: bytes.count) == bytes)
    }

    @Test(arguments: [0, 1, 999, 1 << 20])
    func whoCollectsWaitsForNoMoreThanIsAccepted(limit: Int) async throws {
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").then(.endless("5\r\nhello\r\n"))
        )
        let response = try await CurlTransport.patient()
            .send(.to(server.authority), body: nil, options: AttemptOptions())
        await #expect(throws: MessageBody.ReadError.tooLarge(limit: limit)) {
            try await response.body.collect(upTo: limit)
        }
        try await server.hangups(count: 1)
    }

    @Test
    func whoCollectsIsToldOfTheBreakAndOfItsCancellation() async throws {
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + String(repeating: "x", count: 50_000)).then(
                .close
            ),
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.stall)
        )
        let transport = CurlTransport.patient()
        let cut = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        let error = await #expect(throws: TransportError.self) { try await cut.body.collect(upTo: .max) }
        #expect(error?.code == .truncated)
        let stalled = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        let collecting = Task { try await stalled.body.collect(upTo: .max) }
        collecting.cancel()
        await #expect(throws: CancellationError.self) { try await collecting.value }
    }

    @Test
    func aReaderThatDoesNotReadStopsTheServer() async throws {
        let written = Locked(0)
        let total = 64 << 20
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    _ = connection.read()
                    connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n".utf8))
                    let piece = [UInt8](repeating: 7, count: 1 << 20)
                    for _ in 0..<(total >> 20) {
                        guard connection.write(piece) else { return }
                        written.withLock { $0 += piece.count }
                    }
                    connection.waitForHangup()
                }
            },
            reply: { _ in .answer() }
        )
        var configuration = CurlTransport.Configuration()
        configuration.maxBufferedBytes = 65_536
        let transport = CurlTransport.patient(configuration)
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        // Another request on the same loop runs its course meanwhile: it is the fact that time has passed there.
        let other = try FaultServer(.answer(bytes: [UInt8](repeating: 1, count: 4 << 20)))
        for _ in 0..<5 { _ = try await transport.fetch(.to(other.authority)) }
        #expect(written.withLock { $0 } < total / 2)
        var count = 0
        var largest = 0
        for try await chunk in response.body {
            count += chunk.count
            largest = max(largest, chunk.count)
        }
        #expect(count == total)
        #expect(largest <= 65_536 + 16_384)
    }

    @Test
    func aServerThatDoesNotReadStopsTheStream() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            plan: { _ in .serve(readingBodiesAfter: gate) },
            reply: { .answer(body: String($0.body.count)) }
        )
        let stream = Counting(chunks: 512, size: 65_536)
        let transport = CurlTransport.patient()
        async let answer = transport.fetch(.to(server.authority, .post), MessageBody(once: stream))
        try await server.connections(count: 1)
        let other = try FaultServer(.answer())
        for _ in 0..<50 { _ = try await transport.fetch(.to(other.authority)) }
        #expect(stream.produced.value < 512)
        gate.open()
        #expect(try await answer.body == String(512 * 65_536))
        #expect(stream.produced.value == 512)
    }

    @Test
    func aDroppedBodyEndsTheTransfer() async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.stall))
        let transport = CurlTransport.patient()
        _ = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        try await server.hangups(count: 1)
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        for try await _ in response.body { break }
        try await server.hangups(count: 2)
    }

    @Test
    func aRequestBodyThatFailsEndsTheTransfer() async throws {
        struct Failing: AsyncSequence, Sendable {
            struct AsyncIterator: AsyncIteratorProtocol {
                var count = 0
                mutating func next() async throws -> ArraySlice<UInt8>? {
                    count += 1
                    if count == 3 { throw CancellationError() }
                    return [1, 2, 3]
                }
            }
            func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
        }
        let server = try FaultServer(.answer())
        let error = try await CurlTransport.patient().failure(.to(server.authority, .post), MessageBody { Failing() })
        #expect(error.code == .requestBodyFailed)
        #expect(error.certainty == .unknown)
        #expect(!error.isTransient)
        #expect(server.receivedRequests.isEmpty)
    }

    @Test(arguments: [3, 9])
    func aRequestBodyOfAnotherLengthIsAnError(announced: Int) async throws {
        let server = try FaultServer(.answer())
        let source = ChunkSource()
        source.send("ab")
        source.send("cdef")
        source.finish()
        let body = MessageBody(once: source.stream, length: announced)
        let error = try await CurlTransport.patient().failure(.to(server.authority, .post), body)
        #expect(error.code == .requestBodyFailed)
    }

    @Test
    func aOneShotBodyIsUntouchedWhenNothingWasSent() async throws {
        let port = try RefusingPort()
        let source = ChunkSource()
        source.send("still here")
        source.finish()
        let body = MessageBody(once: source.stream)
        let error = try await CurlTransport.patient().failure(.to(port.authority, .post), body)
        #expect(error.certainty == .neverSent)
        #expect(body.canBeRead)
    }

    @Test
    func anEarlyAnswerIsDelivered() async throws {
        let server = try FaultServer(
            plan: { _ in .answerWithoutReadingBodies },
            reply: { _ in .answer(413, headers: [("Connection", "close")], body: "too large").then(.stall) }
        )
        let source = ChunkSource()
        source.send("the beginning")
        let (head, body) = try await CurlTransport.patient()
            .fetch(.to(server.authority, .post), MessageBody(once: source.stream))
        #expect(head.status.code == 413)
        #expect(body == "too large")
    }

    /// libcurl 7.88 takes a transfer whose sending has paused for one that is not over, whatever it has received.
    @Test(arguments: [200, 413], ["close", "keep-alive"])
    func anEarlyAnswerEndsATransferWhoseUploadWaits(status: Int, connection: String) async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            plan: { _ in .answerWithoutReadingBodies },
            reply: { _ in
                .wait(for: gate).then(.answer(status, headers: [("Connection", connection)], body: "enough")).then(
                    .stall
                )
            }
        )
        let source = ChunkSource()
        source.send("the beginning")
        let transport = CurlTransport.patient()
        async let answer = transport.fetch(.to(server.authority, .post), MessageBody(once: source.stream))
        _ = try await server.requests(count: 1)
        // Other requests on the same loop run their course: it is the fact that the upload has come to its pause.
        let other = try FaultServer(.answer())
        for _ in 0..<10 { _ = try await transport.fetch(.to(other.authority)) }
        gate.open()
        if status == 200, connection == "keep-alive" {
            // It may be an answer to the beginning alone, and the rest still be wanted: the transfer goes on.
            source.finish()
        }
        let (head, body) = try await answer
        #expect(head.status.code == status)
        #expect(body == "enough")
    }

    @Test
    func aCompressedBodyIsDecompressed() async throws {
        // "hello, gzip" ten times.
        let server = try FaultServer { request in
            #expect(request.headers[.acceptEncoding]?.contains("gzip") == true)
            return .answer(headers: [("Content-Encoding", "gzip")], bytes: StoredGzip.bytes("hello, gzip"))
        }
        let (head, body) = try await CurlTransport.patient().fetch(.to(server.authority))
        #expect(body == "hello, gzip")
        #expect(head.headerFields[.contentEncoding] == nil)
        #expect(head.headerFields[.contentLength] == nil)
    }

    @Test
    func aCallersOwnCodingIsLeftAlone() async throws {
        let bytes = StoredGzip.bytes("hello")
        let server = try FaultServer(.answer(headers: [("Content-Encoding", "gzip")], bytes: bytes))
        let request = HTTPRequest.to(server.authority, headers: [.acceptEncoding: "gzip"])
        let response = try await CurlTransport.patient().send(request, body: nil, options: AttemptOptions())
        #expect(try await response.body.collect(upTo: 1000) == bytes)
        #expect(response.head.headerFields[.contentEncoding] == "gzip")
    }
}

/// Chunks that count how many of them were asked for.
private struct Counting: AsyncSequence, Sendable {
    final class Count: Sendable {
        private let count = Locked(0)
        var value: Int { count.withLock { $0 } }
        func increment() { count.withLock { $0 += 1 } }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let sequence: Counting
        var index = 0

        mutating func next() async -> ArraySlice<UInt8>? {
            if index == sequence.chunks { return nil }
            index += 1
            sequence.produced.increment()
            return ArraySlice(repeating: 9, count: sequence.size)
        }
    }

    let chunks: Int
    let size: Int
    let produced = Count()

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sequence: self) }
}
