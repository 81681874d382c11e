import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// What a server on a socket does to a request, and how that may be told.
    private struct Fault: Sendable {
        enum Deed: Sendable {
            /// Reads so many bytes of the request and ends the connection.
            case end(afterBytes: Int, byReset: Bool)
            /// Reads nothing.
            case ignore
            /// Reads the request and replies.
            case reply(FaultServer.Reply)
        }

        let word: String
        let deed: Deed
        let verdict: FaultVerdict
        /// Of what has no end of its own.
        var timeout: Duration?

        init(
            _ word: String,
            _ deed: Deed,
            _ codes: Set<TransportError.Code>,
            _ certainties: Set<TransportError.Certainty>,
            timeout: Duration? = nil
        ) {
            (self.word, self.deed, self.timeout) = (word, deed, timeout)
            verdict = FaultVerdict(codes, certainties)
        }

        /// Whether the server reads the whole request.
        var isRead: Bool { if case .reply = deed { true } else { false } }

        func serve(_ connection: FaultServer.Connection, afterAnswering isWarm: Bool, tries: Locked<Int>) {
            var reader = RequestReader(connection, maximumBodyLength: 1 << 40)
            if isWarm {
                guard Self.read(&reader, connection, 0) else { return }
                connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
            }
            switch deed {
            case .end(let count, let byReset):
                guard connection.read(exactly: count) != nil else { return }
                tries.withLock { $0 += 1 }
                if byReset { connection.reset() } else { connection.close() }
            case .ignore: connection.waitForHangup()
            case .reply(let reply):
                var index = 1
                while Self.read(&reader, connection, index), connection.perform(reply) { index += 1 }
            }
        }

        private static func read(
            _ reader: inout RequestReader,
            _ connection: FaultServer.Connection,
            _ index: Int
        ) -> Bool {
            guard case .request(let head, let body) = reader.request() else { return false }
            var request = FaultServer.Request(head, connection: connection.id, index: index)
            request.body = body
            connection.record(request)
            return true
        }
    }

    /// Long enough for the fault to be met; where it is not, the verdict may be less sure.
    private static let faultTimeout = Duration.seconds(2)

    private static let faults: [Fault] = [
        Fault("reset-in-request", .end(afterBytes: 5, byReset: true), [.connectionLost], [.unknown]),
        Fault("closed-in-request", .end(afterBytes: 5, byReset: false), [.connectionLost], [.unknown]),
        Fault("reset-after-request", .reply(.reset), [.connectionLost], [.unknown]),
        Fault("closed-after-request", .reply(.close), [.connectionLost], [.unknown]),
        Fault(
            "closed-after-interim",
            .reply(.raw("HTTP/1.1 100 Continue\r\n\r\n").then(.close)),
            [.connectionLost, .truncated],
            [.unknown]
        ),
        Fault("reset-in-body", .reply(.resetInBody), [.connectionLost, .truncated], [.answered, .unknown]),
        Fault("short-body", .reply(.shortBody), [.truncated, .connectionLost], [.answered]),
        Fault("truncated-chunks", .reply(.truncatedChunks), [.truncated, .connectionLost], [.answered]),
        Fault(
            "broken-chunk-size",
            .reply(.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n").then(.stall)),
            [.connectionLost, .truncated, .notHTTP],
            [.answered]
        ),
        Fault("not-http", .reply(.garbage), [.notHTTP], [.unknown]),
        Fault("closed-in-header", .reply(.finInHeaders), [.truncated, .connectionLost], [.answered, .unknown]),
        Fault(
            "closed-before-empty-line",
            .reply(.finBeforeEmptyLine),
            [.truncated, .connectionLost],
            [.answered, .unknown]
        ),
        Fault(
            "closed-in-status-line",
            .reply(.raw("HTTP/1.1 20").then(.close)),
            [.connectionLost, .truncated, .notHTTP],
            [.unknown]
        ),
        Fault("endless-headers", .reply(.endlessHeaders), [.headersTooLarge], [.answered, .unknown]),
        Fault("endless-header-line", .reply(.endlessHeaderLine), [.headersTooLarge], [.answered, .unknown]),
        Fault(
            "endless-interim",
            .reply(.endless("HTTP/1.1 103 Early Hints\r\nX-Some: text\r\n\r\n")),
            [.headersTooLarge],
            [.unknown]
        ),
        Fault("never-read", .ignore, [.timedOut], [.unknown], timeout: faultTimeout),
        Fault("never-answered", .reply(.stall), [.timedOut], [.unknown], timeout: faultTimeout),
        Fault(
            "stalled-in-headers",
            .reply(.raw("HTTP/1.1 200 OK\r\nX-Some: text\r\n").then(.stall)),
            [.timedOut],
            [.answered, .unknown],
            timeout: faultTimeout
        ),
        Fault(
            "stalled-in-body",
            .reply(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.stall)),
            [.timedOut],
            [.answered, .unknown],
            timeout: faultTimeout
        ),
        Fault(
            "trickled-for-too-long",
            .reply(.trickle("HTTP/1.1 200 OK\r\n" + String(repeating: "X-A: b\r\n", count: 2000), milliseconds: 5)),
            [.timedOut],
            [.answered, .unknown],
            timeout: faultTimeout
        ),
    ]

    static let faultChecks: [Check] = [
        matrix, matrix(of: "reset-at-once", .reset(afterBytes: 0)), matrix(of: "closed-at-once", .close(afterBytes: 0)),
        codingChecks,
    ]
    .flatMap { $0 }

    private static let matrix: [Check] = faults.flatMap { fault in
        RequestShape.allCases.flatMap { shape in
            [false, true].map { isReused in
                Check(
                    "faults/\(fault.word)/\(shape.rawValue)/\(isReused ? "reused" : "new")",
                    "this fault (\(fault.word)) is told as what it is, and the server sees the request at most once",
                    needs: [.sockets]
                ) { bench in
                    guard let timeout = fault.timeout else {
                        return try await check(fault, shape, isReused: isReused, within: .seconds(86_400), bench)
                    }
                    do {
                        try await check(fault, shape, isReused: isReused, within: timeout, bench)
                    } catch is ConformanceFailure {
                        // On a busy machine the time may be over before anything is sent.
                        try await check(fault, shape, isReused: isReused, within: timeout * 8, bench)
                    }
                }
            }
        }
    }

    private static func check(
        _ fault: Fault,
        _ shape: RequestShape,
        isReused: Bool,
        within timeout: Duration,
        _ bench: TransportBench
    ) async throws {
        let tries = Locked(0)
        let server = try bench.server(
            plan: { number in
                .raw { fault.serve($0, afterAnswering: isReused && number == 0, tries: tries) }
            }
        )
        let transport = try bench.timed(bench.transport())
        func request(_ path: String, _ method: HTTPRequest.Method) -> HTTPRequest {
            HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
        }
        if isReused { _ = try await bench.fetch(transport, request("/first", .get)) }
        let attempt = await bench.attempt(
            transport,
            request("/fault", shape.method),
            shape.body,
            options: AttemptOptions(timeout: timeout)
        )
        let seen = server.receivedRequests.count { $0.path == "/fault" }
        try bench.expect(attempt, endsWith: fault.verdict, seen: seen)
        // What took its time may have been cut off before; what was read was read once.
        if fault.timeout == nil, fault.isRead {
            try bench.expect(seen, is: 1, "times the server saw the request")
        }
        try bench.expect(seen <= 1, "the server saw the request \(seen) times")
        // A second try, whole or not, would be on a connection of its own. One that was opened for nothing,
        // because a used one was gone, does no harm.
        try bench.expect(tries.withLock { $0 } <= 1, "a part of the request is seen once")
        if !isReused { try bench.expect(server.connectionCount, is: 1, "connections") }
    }

    /// Whether the end is noticed before or after the request goes out is a race; both words are true then.
    private static func matrix(of word: String, _ plan: FaultServer.Plan) -> [Check] {
        RequestShape.allCases.map { shape in
            Check(
                "faults/\(word)/\(shape.rawValue)/new",
                "this fault (\(word)) is told as what it is",
                needs: [.sockets]
            ) { bench in
                let server = try bench.server(plan: { _ in plan })
                let request = HTTPRequest(method: shape.method, scheme: "http", authority: server.authority, path: "/")
                let attempt = await bench.attempt(try bench.transport(), request, shape.body)
                let verdict = FaultVerdict([.cannotConnect, .connectionLost], [.neverSent, .unknown])
                let error = try bench.expect(attempt, endsWith: verdict, seen: server.receivedRequests.count)
                try bench.expect(
                    error.code != .cannotConnect || error.certainty == .neverSent,
                    "what could not connect has sent nothing: \(error)"
                )
                try bench.expect(server.connectionCount, is: 1, "connections")
            }
        }
    }

    private static let codingChecks: [Check] = RequestShape.allCases.flatMap { shape in
        [false, true].map { isReused in
            Check(
                "faults/broken-coding/\(shape.rawValue)/\(isReused ? "reused" : "new")",
                "a content coding that is broken is told, by a transport that undoes codings",
                needs: [.sockets, .decompresses]
            ) { bench in
                let broken = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"
                let server = try bench.server { $0.path == "/fault" ? .raw(broken) : .answer() }
                let transport = try bench.transport()
                func request(_ path: String, _ method: HTTPRequest.Method) -> HTTPRequest {
                    HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
                }
                if isReused { _ = try await bench.fetch(transport, request("/first", .get)) }
                let attempt = await bench.attempt(transport, request("/fault", shape.method), shape.body)
                let seen = server.receivedRequests.count { $0.path == "/fault" }
                try bench.expect(attempt, endsWith: FaultVerdict([.badContentEncoding], [.answered]), seen: seen)
                try bench.expect(seen, is: 1, "times the server saw the request")
            }
        }
    }
}
