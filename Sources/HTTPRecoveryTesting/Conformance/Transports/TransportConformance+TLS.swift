import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    static let tlsChecks: [Check] = certificateChecks + rejectionChecks + brokenHandshakeChecks + unreachableChecks

    private static let certificateChecks: [Check] =
        [
            Check(
                "tls/trusted",
                "a server whose authority is trusted is spoken to, again on the same connection",
                needs: [.tls]
            ) { bench in
                let server = try bench.server { .echo($0) }
                let front = try await bench.front(of: server)
                let transport = try bench.transport { $0.caFile = front.caFile }
                for _ in 0..<3 {
                    let request = HTTPRequest(method: .post, scheme: "https", authority: front.authority, path: "/")
                    let (head, body) = try await bench.fetch(transport, request, MessageBody("hello"))
                    try bench.expect(head.status.code, is: 200, "the status")
                    try bench.expect(String(decoding: body, as: UTF8.self).hasSuffix("hello"), "the body arrives")
                }
                try bench.expect(server.connectionCount, is: 1, "connections")
            }
        ]

    private static let rejectionChecks: [Check] = RequestShape.allCases.flatMap { shape in
        [
            Check(
                "tls/untrusted/\(shape.rawValue)",
                "a certificate of an unknown authority is rejected, and nothing is sent",
                needs: [.tls]
            ) { bench in
                let server = try bench.server()
                let front = try await bench.front(of: server)
                let request = HTTPRequest(
                    method: shape.method,
                    scheme: "https",
                    authority: front.authority,
                    path: "/"
                )
                let attempt = await bench.attempt(try bench.transport(), request, shape.body)
                let verdict = FaultVerdict([.certificateRejected], [.neverSent])
                let error = try bench.expect(attempt, endsWith: verdict, seen: server.receivedRequests.count)
                try bench.expect(!error.isTransient, "trying again cannot help")
            },
            Check(
                "tls/wrong-host/\(shape.rawValue)",
                "a certificate of another host is rejected, and nothing is sent",
                needs: [.tls]
            ) { bench in
                let server = try bench.server()
                let front = try await bench.front(of: server, subject: "DNS:elsewhere.example")
                let transport = try bench.transport { $0.caFile = front.caFile }
                let request = HTTPRequest(
                    method: shape.method,
                    scheme: "https",
                    authority: front.authority,
                    path: "/"
                )
                let attempt = await bench.attempt(transport, request, shape.body)
                let verdict = FaultVerdict([.certificateRejected], [.neverSent])
                let error = try bench.expect(attempt, endsWith: verdict, seen: server.receivedRequests.count)
                try bench.expect(!error.isTransient, "trying again cannot help")
            },
        ]
    }

    /// Handshakes that come to nothing need no certificate.
    private static let brokenHandshakes: [(word: String, plan: FaultServer.Plan)] = [
        ("plain-server", FaultServer.Plan.raw { $0.write(Array("hello?\r\n\r\n".utf8)) }),
        (
            "plain-http-server",
            .raw {
                _ = $0.read()
                $0.write(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
            }
        ),
        (
            "alert",
            .raw {
                _ = $0.read()
                // A fatal alert: the handshake failed.
                $0.write([21, 3, 3, 0, 2, 2, 40])
            }
        ),
        ("reset-in-handshake", .reset(afterBytes: 20)), ("closed-in-handshake", .close(afterBytes: 20)),
        ("closed-at-once", .close(afterBytes: 0)),
    ]

    private static let brokenHandshakeChecks: [Check] = brokenHandshakes.flatMap { word, plan in
        RequestShape.allCases.map { shape in
            Check(
                "tls/\(word)/\(shape.rawValue)",
                "a handshake that comes to nothing (\(word)) proves that nothing was sent",
                needs: [.sockets]
            ) { bench in
                let server = try bench.server(plan: { _ in plan })
                let request = HTTPRequest(method: shape.method, scheme: "https", authority: server.authority, path: "/")
                let attempt = await bench.attempt(try bench.transport(), request, shape.body)
                let verdict = FaultVerdict([.tlsFailed, .cannotConnect, .connectionLost], [.neverSent])
                try bench.expect(attempt, endsWith: verdict, seen: server.receivedRequests.count)
                try bench.expect(server.connectionCount, is: 1, "connections")
            }
        }
    }

    private static let unreachableChecks: [Check] = RequestShape.allCases.flatMap { shape in
        [
            Check(
                "connect/refused/\(shape.rawValue)",
                "a connection that is refused proves that nothing was sent",
                needs: [.sockets]
            ) { bench in
                let port = try RefusingPort()
                let request = HTTPRequest(method: shape.method, scheme: "http", authority: port.authority, path: "/")
                let body = shape.body
                let attempt = await bench.attempt(try bench.transport(), request, body)
                let error = try bench.expect(attempt, endsWith: FaultVerdict([.cannotConnect], [.neverSent]), seen: 0)
                try bench.expect(error.isTransient, "trying again can help")
                try bench.expect(body?.canBeRead ?? true, "a body of which nothing was sent can still be sent")
                withExtendedLifetime(port) {}
            },
            Check(
                "connect/unknown-name/\(shape.rawValue)",
                "a name without an address proves that nothing was sent",
                needs: [.sockets]
            ) { bench in
                let request = HTTPRequest(
                    method: shape.method,
                    scheme: "http",
                    authority: "no-such-host.invalid",
                    path: "/"
                )
                let attempt = await bench.attempt(try bench.transport(), request, shape.body)
                try bench.expect(attempt, endsWith: FaultVerdict([.cannotResolve], [.neverSent]), seen: 0)
            },
        ]
    }

    // MARK: Early answers

    static let earlyAnswerChecks: [Check] =
        [401, 413, 429].flatMap { status in
            [("streamed", false), ("large", true)].map { (word: String, isLarge: Bool) in
                Check(
                    "early-answers/\(status)/\(word)",
                    "an answer that comes before the body was read (\(word)) is kept"
                ) { bench in
                    let peer = try await bench.peer(bodies: .never) { _ in
                        PeerReply(
                            status: status,
                            fields: [("Connection", "close"), ("X-Early", "1")],
                            framing: .length(5),
                            body: [.send(Array("early".utf8)), .stall]
                        )
                    }
                    let body =
                        isLarge
                        ? MessageBody([UInt8](repeating: 1, count: 32 << 20))
                        : MessageBody(once: EndlessStream(pieces: [Array("the beginning".utf8)]))
                    let transport = try bench.transport()
                    let response = try await transport.send(peer.request(.post), body: body, options: AttemptOptions())
                    try bench.expect(response.head.status.code, is: status, "the status")
                    try bench.expect(response.head.headerFields[bench.name("X-Early")], is: "1", "the field")
                    // Its end is known by its length, however much of the request is left.
                    let bytes = try await response.body.collect(upTo: 1024)
                    try bench.expect(String(decoding: bytes, as: UTF8.self), is: "early", "the body")
                }
            }
        } + [answerBeforeAReset]

    /// The answer is in the socket when a write fails, which happens in some of the rounds.
    private static let answerBeforeAReset = Check(
        "early-answers/reset",
        "an answer that comes before the body was read is kept, though the server ends the connection",
        needs: [.sockets]
    ) { bench in
        let peer = try await bench.peer(bodies: .never) { _ in
            PeerReply(
                status: 401,
                fields: [("Connection", "close"), ("X-Early", "1")],
                framing: .length(5),
                body: [.send(Array("early".utf8)), .cut]
            )
        }
        let transport = try bench.transport()
        for round in 1...50 {
            let body = MessageBody([UInt8](repeating: 1, count: 1 << 20))
            let response = try await transport.send(peer.request(.post), body: body, options: AttemptOptions())
            try bench.expect(response.head.status.code, is: 401, "the status in round \(round)")
            try bench.expect(response.head.headerFields[bench.name("X-Early")], is: "1", "the field")
            let bytes = try await response.body.collect(upTo: 1024)
            try bench.expect(String(decoding: bytes, as: UTF8.self), is: "early", "the body")
            try bench.expect(peer.requests.count, is: round, "the requests")
        }
    }
}

extension TransportUnderTest.TLSEndpoint {
    var authority: String { "127.0.0.1:\(port)" }
}
