import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    static let reuseChecks: [Check] = reusableChecks + unusableChecks + idleChecks

    /// Sends a request on the same connection after an answer of each form.
    private static let reusableAnswers: [(word: String, method: HTTPRequest.Method, answer: String)] = [
        ("length", HTTPRequest.Method.get, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("empty", .post, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("chunked", .get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        ("204", .get, "HTTP/1.1 204 No Content\r\n\r\n"), ("304", .get, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        ("head", .head, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
        ("error", .post, "HTTP/1.1 500 Sorry\r\nContent-Length: 2\r\n\r\nno"),
        ("interim", .post, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ]

    private static let reusableChecks: [Check] = reusableAnswers.map { word, method, answer in
        Check("reuse/after/\(word)", "a connection is used again after such an answer (\(word))", needs: [.sockets]) {
            bench in
            let server = try bench.server { _ in .raw(answer) }
            let transport = try bench.transport()
            let request = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: "/")
            for _ in 0..<4 {
                _ = try await bench.fetch(transport, request, method == .post ? MessageBody("content") : nil)
            }
            try bench.expect(server.receivedRequests.count, is: 4, "requests seen")
            try bench.expect(server.connectionCount, is: 1, "connections")
        }
    }

    private static let unusableAnswers: [(word: String, answer: String, closes: Bool)] = [
        ("connection-close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false),
        ("connection-close-upper-case", "HTTP/1.1 200 OK\r\nCONNECTION: Close\r\nContent-Length: 2\r\n\r\nok", false),
        ("http-1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false),
        ("until-close", "HTTP/1.1 200 OK\r\n\r\nok", true),
    ]

    private static let unusableChecks: [Check] = unusableAnswers.map { word, answer, closes in
        Check(
            "reuse/not-after/\(word)",
            "a connection is not used again after such an answer (\(word))",
            needs: [.sockets]
        ) {
            bench in
            // The server would answer on the same connection too.
            let server = try bench.server { _ in closes ? .raw(answer).then(.close) : .raw(answer) }
            let transport = try bench.transport()
            let request = HTTPRequest(method: .get, scheme: "http", authority: server.authority, path: "/")
            for _ in 0..<3 { _ = try await bench.fetch(transport, request) }
            try bench.expect(
                server.receivedRequests.map(\.connection),
                is: [0, 1, 2],
                "the connections of the requests"
            )
        }
    }

    private static let idleChecks: [Check] = [
        Check(
            "reuse/new-connection",
            "a request goes out on a new connection if it is told so",
            needs: [.sockets, .choosesConnections]
        ) {
            bench in
            let peer = try await bench.peer { _ in .answer(body: "ok") }
            let transport = try bench.transport()
            for isOnNewConnection in [false, false, true, false] {
                var options = AttemptOptions()
                options.isOnNewConnection = isOnNewConnection
                _ = try await bench.fetch(transport, peer.request(), options: options)
            }
            let connections = peer.requests.map(\.connection)
            try bench.expect(Array(connections.prefix(3)), is: [0, 0, 1], "the connections of the requests")
        },
        Check("reuse/unsolicited", "an answer that nobody asked for is never taken for the next one", needs: [.sockets])
        { bench in
            let idle = Signal()
            let server = try bench.server { request in
                if request.connection > 0 { return .answer(200, body: "real") }
                return .answer().then(.wait(for: idle.gate))
                    .then(.raw("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
                    .then(.stall)
            }
            let transport = try bench.transport()
            let authority = server.authority
            _ = try await bench.fetch(transport, .init(method: .get, scheme: "http", authority: authority, path: "/"))
            idle.open()
            // A transport that looks at idle connections lets this one go; one that does not has to see it when it
            // wants to use it.
            await bench.briefly { try await server.hangups(count: 1) }
            let request = HTTPRequest(method: .post, scheme: "http", authority: authority, path: "/")
            var attempt = await bench.attempt(transport, request, MessageBody("x"))
            if attempt.error != nil {
                // On a busy machine the end may come between the choice of the connection and the writing.
                let unsent = FaultVerdict([.connectionLost, .cannotConnect], [.neverSent])
                try bench.expect(attempt, endsWith: unsent, seen: server.receivedRequests.count - 1)
                attempt = await bench.attempt(transport, request, MessageBody("x"))
            }
            try bench.expect(attempt.head?.status.code, is: 200, "the status; \(attempt.error.map { "\($0)" } ?? "")")
            try bench.expect(attempt.text, is: "real", "the body")
            try bench.expect(server.receivedRequests.count, is: 2, "requests seen")
        },
        Check(
            "reuse/closed-while-idle",
            "a connection that was closed while nobody used it costs at most one request, unrepeated",
            needs: [.sockets]
        ) {
            bench in
            let idle = Signal()
            let server = try bench.server { request in
                request.connection > 0 ? .answer() : .answer().then(.wait(for: idle.gate)).then(.close)
            }
            let transport = try bench.transport()
            let authority = server.authority
            _ = try await bench.fetch(transport, .init(method: .get, scheme: "http", authority: authority, path: "/"))
            idle.open()
            for index in 0..<20 {
                let path = "/\(index)"
                let request = HTTPRequest(method: .post, scheme: "http", authority: authority, path: path)
                let attempt = await bench.attempt(transport, request, MessageBody("x"))
                let seen = server.receivedRequests.count { $0.path == path }
                try bench.expect(seen <= 1, "a request is seen once: \(seen)")
                if attempt.error == nil { continue }
                try bench.expect(index < 2, "only what crosses the close is lost")
                let verdict = FaultVerdict([.connectionLost, .cannotConnect], [.unknown, .neverSent])
                try bench.expect(attempt, endsWith: verdict, seen: seen)
            }
        },
        Check("reuse/many-uploads", "a streamed body that is answered with its last byte leaves its connection free") {
            bench in
            let peer = try await bench.peer { .answer(body: $0.text) }
            let transport = try bench.transport { $0.maxConnectionsPerOrigin = 2 }
            for index in 0..<100 {
                let pieces = AsyncStream { continuation in
                    continuation.yield(Array("body \(index)".utf8)[...])
                    continuation.finish()
                }
                let body = MessageBody(once: pieces, length: "body \(index)".utf8.count)
                let (_, answer) = try await bench.fetch(transport, peer.request(.post), body)
                try bench.expect(String(decoding: answer, as: UTF8.self), is: "body \(index)", "the answer")
            }
            try bench.expect(peer.requests.count, is: 100, "requests seen")
        },
        Check("reuse/many-at-once", "many requests at once are each answered with their own answer") { bench in
            let peer = try await bench.peer { .answer(body: $0.path + $0.text) }
            let transport = try bench.transport { $0.maxConnectionsPerOrigin = 8 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask { [request = peer.request(.post, "/\(index)")] in
                        let (_, body) = try await bench.fetch(transport, request, MessageBody("-\(index)"))
                        try bench.expect(String(decoding: body, as: UTF8.self), is: "/\(index)-\(index)", "the answer")
                    }
                }
                try await group.waitForAll()
            }
            try bench.expect(Set(peer.requests.map(\.path)).count, is: 100, "requests seen")
            try bench.expect(peer.requests.count, is: 100, "requests seen in all")
        },
    ]
}

extension TransportBench {
    /// Waits for what need not come, for at most ten seconds.
    func briefly(_ fact: @escaping @Sendable () async throws -> Void) async {
        _ = try? await TimeSource(clock: ContinuousClock()).withTimeout(
            until: TimeSource.Instant(sinceStart: .seconds(10)),
            fact
        )
    }
}
