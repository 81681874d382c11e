import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Every fault, for a request with and one without a body: the code and the certainty must be exact.
@Suite(.timeLimit(.minutes(30)))
struct FaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var plan = FaultServer.Plan.serve
        var reply = FaultServer.Reply.answer()
        let code: TransportError.Code
        let certainty: TransportError.Certainty
        /// Of what has an end of its own, long; of what has none, long enough for the fault to be met.
        var timeout: Duration = .seconds(3600)
    }

    static let faults = [
        Fault(
            testDescription: "reset in the request",
            plan: .reset(afterBytes: 5),
            code: .connectionLost,
            certainty: .unknown
        ),
        Fault(
            testDescription: "closed in the request",
            plan: .close(afterBytes: 5),
            code: .connectionLost,
            certainty: .unknown
        ),
        Fault(testDescription: "reset after the request", reply: .reset, code: .connectionLost, certainty: .unknown),
        Fault(testDescription: "closed after the request", reply: .close, code: .connectionLost, certainty: .unknown),
        Fault(
            testDescription: "closed after an interim response",
            reply: .raw("HTTP/1.1 100 Continue\r\n\r\n").then(.close),
            code: .connectionLost,
            certainty: .unknown
        ),
        Fault(testDescription: "reset in the body", reply: .resetInBody, code: .connectionLost, certainty: .answered),
        Fault(testDescription: "short body", reply: .shortBody, code: .truncated, certainty: .answered),
        Fault(testDescription: "truncated chunks", reply: .truncatedChunks, code: .truncated, certainty: .answered),
        Fault(
            testDescription: "broken chunk size",
            reply: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n").then(.stall),
            code: .connectionLost,
            certainty: .answered
        ),
        Fault(testDescription: "not HTTP", reply: .garbage, code: .notHTTP, certainty: .unknown),
        Fault(testDescription: "FIN in a header", reply: .finInHeaders, code: .truncated, certainty: .answered),
        Fault(
            testDescription: "FIN before the empty line",
            reply: .finBeforeEmptyLine,
            code: .truncated,
            certainty: .answered
        ),
        Fault(
            testDescription: "FIN in the status line",
            reply: .raw("HTTP/1.1 20").then(.close),
            code: .connectionLost,
            certainty: .unknown
        ),
        Fault(
            testDescription: "lengths that differ",
            reply: .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 2\r\n\r\nhello"),
            code: .notHTTP,
            certainty: .answered
        ),
        Fault(
            testDescription: "a length that is none",
            reply: .raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello").then(.close),
            code: .notHTTP,
            certainty: .answered
        ),
        Fault(
            testDescription: "a switch to another protocol",
            reply: .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n").then(.stall),
            code: .notHTTP,
            certainty: .answered
        ),
        Fault(testDescription: "endless headers", reply: .endlessHeaders, code: .headersTooLarge, certainty: .answered),
        Fault(
            testDescription: "endless header line",
            reply: .endlessHeaderLine,
            code: .headersTooLarge,
            certainty: .answered
        ),
        Fault(
            testDescription: "endless interim responses",
            reply: .endless("HTTP/1.1 103 Early Hints\r\nX-Some: text\r\n\r\n"),
            code: .headersTooLarge,
            certainty: .unknown
        ),
        Fault(
            testDescription: "never read",
            plan: .stall,
            code: .timedOut,
            certainty: .unknown,
            timeout: .seconds(5)
        ),
        Fault(
            testDescription: "never answered",
            reply: .stall,
            code: .timedOut,
            certainty: .unknown,
            timeout: .seconds(5)
        ),
        Fault(
            testDescription: "stalled in the headers",
            reply: .raw("HTTP/1.1 200 OK\r\nX-Some: text\r\n").then(.stall),
            code: .timedOut,
            certainty: .answered,
            timeout: .seconds(5)
        ),
        Fault(
            testDescription: "stalled in the body",
            reply: .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.stall),
            code: .timedOut,
            certainty: .answered,
            timeout: .seconds(5)
        ),
        Fault(
            testDescription: "trickled for too long",
            reply: .trickle("HTTP/1.1 200 OK\r\n" + String(repeating: "X-A: b\r\n", count: 2000), milliseconds: 5),
            code: .timedOut,
            certainty: .answered,
            timeout: .seconds(5)
        ),
        Fault(
            testDescription: "broken gzip",
            reply: .raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"),
            code: .badContentEncoding,
            certainty: .answered
        ),
    ]

    @Test(arguments: faults, [HTTPRequest.Method.get, .post])
    func aFaultHasItsCertainty(fault: Fault, method: HTTPRequest.Method) async throws {
        let transport = CurlTransport.patient()
        let server = try FaultServer(plan: { _ in fault.plan }, reply: { _ in fault.reply })
        let body = method == .post ? MessageBody("some content") : nil
        let error = try await transport.failure(.to(server.authority, method), body, timeout: fault.timeout)
        #expect(error.code == fault.code, "\(error)")
        #expect(error.certainty == fault.certainty, "\(error)")
        #expect(server.receivedRequests.count <= 1)
        #expect(server.connectionCount == 1)
        await transport.shutdown()
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func aRefusedConnectionSendsNothing(method: HTTPRequest.Method) async throws {
        let port = try RefusingPort()
        let error = try await CurlTransport.patient().failure(.to(port.authority, method), MessageBody("x"))
        #expect(error.code == .cannotConnect)
        #expect(error.certainty == .neverSent)
        #expect(error.isTransient)
    }

    /// Whether the reset is noticed before or after the request goes out is a race; both words are true then.
    @Test(arguments: [HTTPRequest.Method.get, .post])
    func aResetAtOnceIsNeverTakenForAnAnswer(method: HTTPRequest.Method) async throws {
        let server = try FaultServer(plan: { _ in .reset(afterBytes: 0) }, reply: { _ in .answer() })
        let error = try await CurlTransport.patient().failure(.to(server.authority, method), MessageBody("x"))
        #expect([.cannotConnect, .connectionLost].contains(error.code))
        #expect(error.certainty == (error.code == .cannotConnect ? .neverSent : .unknown))
    }

    @Test
    func anUnknownNameIsNeverSent() async throws {
        let error = try await CurlTransport.patient().failure(.to("no-such-host.invalid"))
        #expect(error.code == .cannotResolve)
        #expect(error.certainty == .neverSent)
    }

    // MARK: Hidden resends

    @Test(arguments: [HTTPRequest.Method.get, .post, .put], [true, false])
    func aRequestOnADyingConnectionArrivesOnce(method: HTTPRequest.Method, byReset: Bool) async throws {
        let transport = CurlTransport.patient()
        let server = try FaultServer { request in
            if request.indexOnConnection == 0, request.connection == 0 { return .answer() }
            return request.connection == 0 ? (byReset ? .reset : .close) : .answer()
        }
        _ = try await transport.fetch(.to(server.authority))
        let body = method == .get ? nil : MessageBody("paid once")
        let error = try await transport.failure(.to(server.authority, method, "/pay"), body)
        #expect(error.code == .connectionLost)
        #expect(error.certainty == .unknown)
        #expect(server.receivedRequests.filter { $0.path == "/pay" }.count == 1)
        // The transport goes on working.
        #expect(try await transport.fetch(.to(server.authority)).head.status == .ok)
        #expect(server.receivedRequests.filter { $0.path == "/pay" }.count == 1)
    }

    @Test
    func aStreamedBodyOnADyingConnectionArrivesOnce() async throws {
        let transport = CurlTransport.patient()
        let server = try FaultServer { $0.connection == 0 && $0.indexOnConnection > 0 ? .close : .answer() }
        _ = try await transport.fetch(.to(server.authority))
        let source = ChunkSource()
        source.send("paid once")
        source.finish()
        let error = try await transport.failure(.to(server.authority, .post, "/pay"), MessageBody(once: source.stream))
        #expect(error.certainty == .unknown)
        #expect(server.receivedRequests.filter { $0.path == "/pay" }.count == 1)
    }

    @Test
    func anUnsolicitedAnswerIsNotTakenForTheNextOne() async throws {
        let transport = CurlTransport.patient()
        let (idle, sent) = (FaultServer.Gate(), FaultServer.Gate())
        let server = try FaultServer { request in
            if request.connection > 0 { return .answer(200, body: "real") }
            return .answer().then(.wait(for: idle))
                .then(.raw("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
                .then(.open(sent)).then(.stall)
        }
        _ = try await transport.fetch(.to(server.authority))
        idle.open()
        // The drained connection is shut down by the transport: the fact to wait for.
        try await server.hangups(count: 1)
        let (head, body) = try await transport.fetch(.to(server.authority, .post), MessageBody("x"))
        #expect(head.status == .ok)
        #expect(body == "real")
        #expect(server.receivedRequests.count == 2)
    }

    @Test
    func aConnectionClosedWhileIdleCostsNothing() async throws {
        let transport = CurlTransport.patient()
        let idle = FaultServer.Gate()
        let server = try FaultServer { $0.connection > 0 ? .answer() : .answer().then(.wait(for: idle)).then(.close) }
        _ = try await transport.fetch(.to(server.authority))
        idle.open()
        for _ in 0..<20 { _ = try? await transport.fetch(.to(server.authority, .post), MessageBody("x")) }
        // At most the one that crossed the close was lost; none came twice.
        #expect(server.receivedRequests.count >= 20)
        #expect(server.receivedRequests.count <= 21)
    }
}
