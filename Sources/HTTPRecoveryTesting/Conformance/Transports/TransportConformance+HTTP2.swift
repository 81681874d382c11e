import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    static let http2Checks: [Check] =
        http2FaultChecks + beforeStreamChecks + idleChecks + http2ExchangeChecks + http2ConnectionChecks + sharedChecks

    /// What is the same over HTTP/1.1.
    private static let sharedChecks =
        (cancellationChecks + shutdownChecks + [bothWays]).filter { $0.id != "cancellation/while-connecting" }
        .map(\.overHTTP2)

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

    /// Connections that end when they are used no more, and are wanted again.
    private static let idleChecks: [Check] = [("closed", HTTP2Answer.End.close), ("reset", .reset)].flatMap {
        word,
        end in
        RequestShape.allCases.map { shape in
            Check(
                "http2/\(word)-while-idle/\(shape.rawValue)",
                "a connection that ended (\(word)) while nobody used it costs at most one request, unrepeated",
                needs: [.http2]
            ) { bench in
                let idle = Signal()
                let line = try await bench.http2 { stream, index in
                    if index > 0 { return .init(HTTP2Frame.ok(stream)) }
                    var answer = HTTP2Answer(HTTP2Frame.ok(stream), later: [], then: end)
                    answer.gate = idle.gate
                    return answer
                }
                _ = try await bench.fetch(line.transport, line.request(.get))
                idle.open()
                let attempt = await bench.attempt(line.transport, line.request(shape.method), shape.body)
                let seen = line.server.receivedRequests.count - 1
                if attempt.error == nil { return try bench.expect(seen, is: 1, "times the server saw the request") }
                try bench.expect(seen, is: 0, "times the server saw the request")
                let verdict = FaultVerdict([.connectionLost, .cannotConnect, .tlsFailed], [.unknown, .neverSent])
                try bench.expect(attempt, endsWith: verdict, seen: seen)
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
        Check("http2/many-fields", "a head of forty kilobytes comes whole, with its body", needs: [.http2]) { bench in
            let fields = (0..<400).map { (name: "x-\($0)", value: String(repeating: "long ", count: 20)) }
            let line = try await bench.http2 { stream, _ in
                .init(
                    HTTP2Frame.headers(stream, fields, endsStream: false)
                        + HTTP2Frame.data(stream, "content".utf8, endsStream: true)
                )
            }
            let (head, body) = try await bench.fetch(line.transport, line.request(.get))
            try bench.expect(head.headerFields.count, is: 400, "fields")
            try bench.expect(String(decoding: body, as: UTF8.self), is: "content", "the body")
        },
        Check("http2/goaway-in-body", "a body that a GOAWAY comes into is whole all the same", needs: [.http2]) {
            bench in
            let line = try await bench.http2 { stream, _ in
                .init(
                    HTTP2Frame.beginning(stream) + HTTP2Frame.goAway(lastStream: stream)
                        + HTTP2Frame.data(stream, "def".utf8, endsStream: false)
                        + HTTP2Frame.data(stream, "ghi".utf8, endsStream: true)
                )
            }
            for _ in 0..<2 {
                let (_, body) = try await bench.fetch(line.transport, line.request(.post), MessageBody("x"))
                try bench.expect(String(decoding: body, as: UTF8.self), is: "abcdefghi", "the body")
            }
            try bench.expect(line.server.receivedRequests.count, is: 2, "requests seen")
        },
        Check("http2/unheard-of-frames", "frames of a kind that nobody knows are passed over", needs: [.http2]) {
            bench in
            let line = try await bench.http2 { stream, _ in
                let unheardOf = HTTP2Frame.bytes(type: 0xfa, flags: 0xff, stream: stream, [1, 2, 3])
                return .init(
                    unheardOf + HTTP2Frame.beginning(stream) + unheardOf
                        + HTTP2Frame.data(stream, "defghi".utf8, endsStream: true)
                )
            }
            let (_, body) = try await bench.fetch(line.transport, line.request(.post), MessageBody("x"))
            try bench.expect(String(decoding: body, as: UTF8.self), is: "abcdefghi", "the body")
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
        let (scheme, authority) = try await address(ofHTTP2: server)
        return HTTP2Line(server: server, transport: try transport(), scheme: scheme, authority: authority)
    }
}
