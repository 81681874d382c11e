import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// What a server on a socket does to a request, and how that may be told.
    private struct Fault: Sendable {
        enum Deed: Sendable {
            /// Reads so many bytes of the request and ends the connection.
            case end(afterBytes: Int, byReset: Bool)
            /// Reads the first byte of the request and nothing more.
            case ignore
            /// Reads the request and replies.
            case reply(FaultServer.Reply)
        }

        let word: String
        let deed: Deed
        let verdict: FaultVerdict
        /// Whether only the attempt's time ends it.
        var isStall: Bool

        init(
            _ word: String,
            _ deed: Deed,
            _ codes: Set<TransportError.Code>,
            _ certainties: Set<TransportError.Certainty>,
            isStall: Bool = false
        ) {
            (self.word, self.deed, self.isStall) = (word, deed, isStall)
            verdict = FaultVerdict(codes, certainties)
        }

        /// Whether the server reads the whole request.
        var isRead: Bool { if case .reply = deed { true } else { false } }

        /// - Parameters:
        ///   - isWarm: Whether a request is answered before.
        ///   - tries: Counts the connections on which a part of the request has come.
        ///   - limit: Is told when the fault is there.
        func serve(
            _ connection: FaultServer.Connection,
            afterAnswering isWarm: Bool,
            tries: Locked<Int>,
            _ limit: TimeLimit
        ) {
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
            case .ignore:
                guard connection.read(exactly: 1) != nil else { return }
                tries.withLock { $0 += 1 }
                limit.isMet()
                connection.waitForHangup()
            case .reply(let reply):
                var index = 1
                while Self.read(&reader, connection, index) {
                    limit.isMet()
                    guard connection.perform(reply) else { return }
                    index += 1
                }
            }
        }

        private static func read(
            _ reader: inout RequestReader,
            _ connection: FaultServer.Connection,
            _ index: Int
        ) -> Bool {
            guard reader.head() != nil, case .request(let head, let body) = reader.request() else { return false }
            var request = FaultServer.Request(head, connection: connection.id, index: index)
            request.body = body
            connection.record(request)
            return true
        }
    }

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
        Fault(
            "switched-protocol",
            .reply(.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n").then(.stall)),
            [.notHTTP],
            [.answered, .unknown]
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
        Fault("never-read", .ignore, [.timedOut], [.unknown], isStall: true),
        Fault("never-answered", .reply(.stall), [.timedOut], [.unknown], isStall: true),
        Fault(
            "stalled-in-headers",
            .reply(.raw("HTTP/1.1 200 OK\r\nX-Some: text\r\n").then(.stall)),
            [.timedOut],
            [.answered, .unknown],
            isStall: true
        ),
        Fault(
            "stalled-in-body",
            .reply(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.stall)),
            [.timedOut],
            [.answered],
            isStall: true
        ),
        Fault(
            "trickled-for-too-long",
            .reply(.trickle("HTTP/1.1 200 OK\r\n" + trickledFields, milliseconds: 5)),
            [.timedOut],
            [.answered, .unknown],
            isStall: true
        ),
    ]

    /// At least eighty seconds of them, longer than the longest ``TimeLimit``, and still neither too large nor too many for a
    /// client: some take 256 fields at most.
    private static let trickledFields = String(
        repeating: "X-A: " + String(repeating: "b", count: 153) + "\r\n",
        count: 100
    )

    static let faultChecks: [Check] = [
        matrix, matrix(of: "reset-at-once", byReset: true), matrix(of: "closed-at-once", byReset: false),
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
                    try await TimeLimit.tried(isNeeded: fault.isStall) { limit in
                        try await check(fault, shape, isReused: isReused, within: limit, bench)
                    }
                }
            }
        }
    }

    private static func check(
        _ fault: Fault,
        _ shape: RequestShape,
        isReused: Bool,
        within limit: TimeLimit,
        _ bench: TransportBench
    ) async throws {
        let tries = Locked(0)
        let server = try bench.server(
            plan: { number in
                .raw { fault.serve($0, afterAnswering: isReused && number == 0, tries: tries, limit) }
            }
        )
        let transport = try bench.timed(bench.transport())
        func request(_ path: String, _ method: HTTPRequest.Method) -> HTTPRequest {
            HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
        }
        if isReused { _ = try await bench.fetch(transport, request("/first", .get)) }
        let faulty = request("/fault", shape.method)
        let attempt = await bench.attempt(transport, faulty, shape.body, options: limit.begin())
        try limit.judge(attempt)
        let seen = server.receivedRequests.count { $0.path == "/fault" }
        try bench.expect(attempt, endsWith: fault.verdict, seen: seen)
        // What is not read as a request is counted by the connections on which a part of one has come. One that was
        // opened for nothing, because a used one was gone, does no harm.
        let times = fault.isRead ? seen : tries.withLock { $0 }
        try bench.expect(times, is: 1, "times the server saw the request, or a part of it")
        if !isReused { try bench.expect(server.connectionCount, is: 1, "connections") }
    }

    /// Whether the end is noticed before or after the request goes out is a race; both words are true then.
    private static func matrix(of word: String, byReset: Bool) -> [Check] {
        RequestShape.allCases.flatMap { shape in
            [false, true].map { isReused in
                Check(
                    "faults/\(word)/\(shape.rawValue)/\(isReused ? "reused" : "new")",
                    "this fault (\(word)) is told as what it is",
                    needs: [.sockets]
                ) { bench in
                    // The client has the first answer before its connection ends.
                    let answered = Signal()
                    let end = FaultServer.Reply.wait(for: answered.gate).then(byReset ? .reset : .close)
                    let server = try bench.server(
                        plan: { number in
                            if isReused, number == 0 { return .serve }
                            return byReset ? .reset(afterBytes: 0) : .close(afterBytes: 0)
                        },
                        reply: { _ in .answer().then(end) }
                    )
                    let transport = try bench.transport()
                    func request(_ path: String, _ method: HTTPRequest.Method) -> HTTPRequest {
                        HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
                    }
                    if isReused { _ = try await bench.fetch(transport, request("/first", .get)) }
                    answered.open()
                    let attempt = await bench.attempt(transport, request("/fault", shape.method), shape.body)
                    let seen = server.receivedRequests.count { $0.path == "/fault" }
                    try bench.expect(seen, is: 0, "times the server saw the request")
                    let verdict = FaultVerdict([.cannotConnect, .connectionLost], [.neverSent, .unknown])
                    let error = try bench.expect(attempt, endsWith: verdict, seen: seen)
                    try bench.expect(
                        error.code != .cannotConnect || error.certainty == .neverSent,
                        "what could not connect has sent nothing: \(error)"
                    )
                    // A used one that is gone may be made up for, once.
                    let count = server.connectionCount
                    try bench.expect(count == 1 || isReused && count == 2, "connections: \(count)")
                }
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
