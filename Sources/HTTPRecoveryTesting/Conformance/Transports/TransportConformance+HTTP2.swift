import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// What a server of HTTP/2 does to a whole request, and how that may be told.
    private struct StreamFault: Sendable {
        let word: String
        let verdict: FaultVerdict
        let answer: @Sendable (UInt32) -> HTTP2Answer

        init(
            _ word: String,
            _ codes: Set<TransportError.Code>,
            _ certainties: Set<TransportError.Certainty>,
            _ answer: @escaping @Sendable (UInt32) -> HTTP2Answer
        ) {
            (self.word, self.answer) = (word, answer)
            verdict = FaultVerdict(codes, certainties)
        }
    }

    private static let streamFaults: [StreamFault] = [
        // The server's word that it has not processed the request, which makes a resend safe.
        StreamFault("refused-stream", [.streamRefused], [.notProcessed]) { .init(HTTP2Frame.reset($0, code: 7)) },
        StreamFault("goaway-below", [.streamRefused], [.notProcessed]) { stream in
            .init(HTTP2Frame.goAway(lastStream: stream > 2 ? stream - 2 : 0))
        },
        StreamFault("goaway-below-and-closed", [.streamRefused], [.notProcessed]) { stream in
            .init(HTTP2Frame.goAway(lastStream: stream > 2 ? stream - 2 : 0), then: .close)
        },
        // Within what the server may have processed.
        StreamFault("goaway-at-and-reset", [.connectionLost], [.unknown]) {
            .init(HTTP2Frame.goAway(lastStream: $0) + HTTP2Frame.reset($0, code: 2))
        },
        StreamFault("goaway-above-and-closed", [.connectionLost], [.unknown]) {
            .init(HTTP2Frame.goAway(lastStream: $0 + 100), then: .close)
        },
        StreamFault("closed-after-request", [.connectionLost], [.unknown]) { _ in .init(then: .close) },
        StreamFault("reset-after-request", [.connectionLost], [.unknown]) { _ in .init(then: .reset) },
        StreamFault("protocol-error", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 1)) },
        StreamFault("internal-error", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 2)) },
        StreamFault("cancelled", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 8)) },
        StreamFault("enhance-your-calm", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 11)) },
        // After the head, which was handed over before.
        StreamFault("cancelled-in-body", [.connectionLost, .truncated], [.answered]) {
            .init(beginning($0), later: HTTP2Frame.reset($0, code: 8))
        },
        StreamFault("refused-in-body", [.connectionLost, .truncated], [.answered]) {
            .init(beginning($0), later: HTTP2Frame.reset($0, code: 7))
        },
        StreamFault("closed-in-body", [.connectionLost, .truncated], [.answered]) {
            .init(beginning($0), later: [], then: .close)
        },
        StreamFault("short-body", [.connectionLost, .truncated, .notHTTP], [.answered]) {
            .init(beginning($0), later: HTTP2Frame.data($0, [], endsStream: true))
        },
        // All in one: the end may hide the beginning.
        StreamFault("cancelled-at-once", [.connectionLost, .truncated], [.answered, .unknown]) {
            .init(beginning($0) + HTTP2Frame.reset($0, code: 8))
        },
        StreamFault("closed-in-body-at-once", [.connectionLost, .truncated], [.answered, .unknown]) {
            .init(beginning($0), then: .close)
        },
    ]

    /// The head of an answer with a body of nine bytes, and three of them.
    private static func beginning(_ stream: UInt32) -> [UInt8] {
        HTTP2Frame.headers(stream, [("content-length", "9")], endsStream: false)
            + HTTP2Frame.data(stream, "abc".utf8, endsStream: false)
    }

    static let http2Checks: [Check] = streamMatrix + beforeStreamChecks + http2ExchangeChecks + http2ConnectionChecks

    private static let streamMatrix: [Check] = streamFaults.flatMap { fault in
        RequestShape.allCases.flatMap { shape in
            [false, true].map { isReused in
                Check(
                    "http2/\(fault.word)/\(shape.rawValue)/\(isReused ? "reused" : "new")",
                    "this fault (\(fault.word)) is told as what it is, and the server sees the request once",
                    needs: [.http2]
                ) { bench in
                    let head = Signal()
                    let line = try await bench.http2 { stream, index in
                        var answer = isReused && index == 0 ? .init(HTTP2Frame.ok(stream)) : fault.answer(stream)
                        if answer.later != nil { answer.gate = head.gate }
                        return answer
                    }
                    if isReused { _ = try await bench.fetch(line.transport, line.request(.get)) }
                    let attempt = await bench.attempt(line.transport, line.request(shape.method), shape.body) {
                        head.open()
                    }
                    let seen = line.server.receivedRequests.count - (isReused ? 1 : 0)
                    try bench.expect(attempt, endsWith: fault.verdict, seen: seen)
                    try bench.expect(seen, is: 1, "times the server saw the request")
                    if isReused {
                        let connections = line.server.receivedRequests.map(\.connection)
                        try bench.expect(connections, is: [0, 0], "the connections of the requests")
                    }
                }
            }
        }
    }

    /// Connections that end before there is a stream.
    private static let brokenConnections: [(word: String, plan: FaultServer.Plan)] = [
        ("closed-at-once", FaultServer.Plan.close(afterBytes: 0)), ("reset-at-once", .reset(afterBytes: 0)),
        ("closed-after-preface", .close(afterBytes: 24)), ("reset-in-preface", .reset(afterBytes: 5)),
    ]

    private static let beforeStreamChecks: [Check] = brokenConnections.flatMap { word, plan in
        RequestShape.allCases.map { shape in
            Check(
                "http2/\(word)/\(shape.rawValue)/new",
                "a connection that ends before the request was seen (\(word)) is told as what it is",
                needs: [.http2]
            ) { bench in
                let server = try bench.server(plan: { _ in plan })
                let line = try await bench.http2(server)
                let attempt = await bench.attempt(line.transport, line.request(shape.method), shape.body)
                // The request may have been on its way before the end was noticed.
                let verdict = FaultVerdict([.cannotConnect, .connectionLost, .tlsFailed], [.neverSent, .unknown])
                try bench.expect(attempt, endsWith: verdict, seen: 0)
                try bench.expect(server.connectionCount, is: 1, "connections")
            }
        }
    }

    private static let http2ExchangeChecks: [Check] =
        RequestShape.allCases.map { shape in
            Check("http2/answered/\(shape.rawValue)", "a request is answered over HTTP/2", needs: [.http2]) { bench in
                let line = try await bench.http2 { stream, _ in
                    .init(
                        HTTP2Frame.headers(
                            stream,
                            status: "201",
                            [
                                ("x-one", "1"), ("set-cookie", "a=1"), ("x-one", "2"), ("set-cookie", "b=2"),
                                ("x-empty", ""),
                            ],
                            endsStream: false
                        ) + HTTP2Frame.data(stream, "content".utf8, endsStream: true)
                    )
                }
                let (head, body) = try await bench.fetch(line.transport, line.request(shape.method), shape.body)
                try bench.expect(head.status.code, is: 201, "the status")
                try bench.expect(head.headerFields[values: bench.name("x-one")], is: ["1", "2"], "the repeated field")
                try bench.expect(head.headerFields[values: .setCookie], is: ["a=1", "b=2"], "the cookies")
                try bench.expect(head.headerFields[values: bench.name("x-empty")], is: [""], "the empty field")
                try bench.expect(String(decoding: body, as: UTF8.self), is: "content", "the body")
            }
        }

    private static let http2ConnectionChecks: [Check] = [
        Check("http2/one-connection", "many requests share a connection, one after the other", needs: [.http2]) {
            bench in
            let line = try await bench.http2 { stream, _ in .init(HTTP2Frame.ok(stream)) }
            for _ in 0..<5 { _ = try await bench.fetch(line.transport, line.request(.post), MessageBody("x")) }
            try bench.expect(line.server.receivedRequests.count, is: 5, "requests seen")
            try bench.expect(line.server.connectionCount, is: 1, "connections")
        },
        Check("http2/goaway-after-answer", "a stream within a GOAWAY is answered", needs: [.http2]) { bench in
            let line = try await bench.http2 { stream, _ in
                .init(HTTP2Frame.goAway(lastStream: stream) + HTTP2Frame.ok(stream))
            }
            for _ in 0..<2 { _ = try await bench.fetch(line.transport, line.request(.post), MessageBody("x")) }
            try bench.expect(line.server.receivedRequests.count, is: 2, "requests seen")
        },
    ]
}

/// A server of HTTP/2 and a transport that speaks it.
struct HTTP2Line: Sendable {
    let server: FaultServer
    let transport: any HTTPTransport
    let scheme: String
    let authority: String

    func request(_ method: HTTPRequest.Method) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: authority, path: "/")
    }
}

extension TransportBench {
    func http2(_ answer: @escaping @Sendable (UInt32, Int) -> HTTP2Answer) async throws -> HTTP2Line {
        try await http2(keep(FaultServer.http2(answer)))
    }

    func http2(_ server: FaultServer) async throws -> HTTP2Line {
        if subject.http2 == .priorKnowledge {
            let transport = try transport { $0.speaksHTTP2 = true }
            return HTTP2Line(server: server, transport: transport, scheme: "http", authority: server.authority)
        }
        let front = try await front(of: server, protocols: ["h2"])
        let transport = try transport {
            $0.speaksHTTP2 = true
            $0.caFile = front.caFile
        }
        return HTTP2Line(server: server, transport: transport, scheme: "https", authority: front.authority)
    }
}
