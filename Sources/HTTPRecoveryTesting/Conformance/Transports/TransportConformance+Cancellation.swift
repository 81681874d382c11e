import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// A check that repeats what it does, as often as the environment says.
    private static func repeated(
        _ id: String,
        _ name: String,
        needs abilities: Set<TransportUnderTest.Ability> = [.exchanges],
        _ body: @escaping @Sendable (TransportBench) async throws -> Void
    ) -> Check {
        Check(id, name, needs: abilities, isRepeated: true, body)
    }

    static let cancellationChecks: [Check] = waitingChecks + otherCancellationChecks

    private static let otherCancellationChecks: [Check] = [
        repeated("cancellation/before-sending", "a task that was cancelled before sends nothing") { bench in
            let peer = try await bench.peer { _ in .answer() }
            let transport = try bench.transport()
            let request = peer.request(.post)
            let task = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await transport.send(request, body: MessageBody("x"), options: AttemptOptions())
            }
            try await bench.expectCancellation(of: task, "sending")
            try bench.expect(peer.requests.count, is: 0, "requests seen")
        },
        repeated(
            "cancellation/while-connecting",
            "a cancellation while the handshake is unanswered ends the attempt",
            needs: [.sockets]
        ) { bench in
            let server = try bench.server(plan: { _ in .stall })
            let transport = try bench.transport()
            let request = HTTPRequest(method: .post, scheme: "https", authority: server.authority, path: "/")
            let task = Task { try await transport.send(request, body: MessageBody("x"), options: AttemptOptions()) }
            try await server.connections(count: 1)
            task.cancel()
            try await bench.expectCancellation(of: task, "connecting")
            try await server.hangups(count: 1)
        },
        repeated(
            "cancellation/in-the-queue",
            "a request that waits for a connection is cancelled, and others go on"
        ) {
            bench in
            let peer = try await bench.peer { $0.path == "/first" ? .stall : .answer() }
            let transport = try bench.transport { $0.maxConnectionsPerOrigin = 1 }
            let first = Task { [request = peer.request(.get, "/first")] in
                try await transport.send(request, body: nil, options: AttemptOptions())
            }
            try await peer.requests(count: 1)
            let queued = Task { [request = peer.request(.post, "/queued")] in
                let response = try await transport.send(request, body: MessageBody("x"), options: AttemptOptions())
                // Without a queue it is answered; cancelled it is all the same.
                try await Signal().wait()
                return response
            }
            queued.cancel()
            try await bench.expectCancellation(of: queued, "waiting for a connection")
            first.cancel()
            try await bench.expectCancellation(of: first, "the first")
            let (head, _) = try await bench.fetch(transport, peer.request(.get, "/last"))
            try bench.expect(head.status.code, is: 200, "the last")
        },
        repeated("cancellation/upload", "a cancellation while a body is sent ends the attempt") { bench in
            let peer = try await bench.peer(bodies: .after(Signal())) { _ in .answer() }
            let transport = try bench.transport()
            let request = peer.request(.post)
            let body = MessageBody(once: EndlessStream(pieces: [Array("the beginning".utf8)]))
            let task = Task { try await transport.send(request, body: body, options: AttemptOptions()) }
            try await peer.arrivals(count: 1)
            task.cancel()
            try await bench.expectCancellation(of: task, "sending a body")
            try await bench.hangup(of: peer)
        },
        repeated("cancellation/large-upload", "a cancellation while nobody takes what is sent ends the attempt") {
            bench in
            let read = Signal()
            let peer = try await bench.peer(bodies: .after(read)) { _ in .answer() }
            let transport = try bench.transport()
            let request = peer.request(.post)
            let body = MessageBody([UInt8](repeating: 1, count: 16 << 20))
            let task = Task { try await transport.send(request, body: body, options: AttemptOptions()) }
            try await peer.arrivals(count: 1)
            task.cancel()
            try await bench.expectCancellation(of: task, "sending a body")
            // The end of a connection comes after what was sent: it is seen by whoever reads that.
            read.open()
            try await bench.hangup(of: peer)
        },
        repeated("cancellation/in-the-body", "a cancellation while the body is awaited ends the transfer") {
            bench in
            let begun = Signal()
            let peer = try await bench.peer { _ in .steps([.send(Array("abc".utf8)), .open(begun), .stall], length: 9) }
            let transport = try bench.transport()
            let response = try await transport.send(peer.request(), body: nil, options: AttemptOptions())
            let task = Task {
                var iterator = response.body.makeAsyncIterator()
                while try await iterator.next() != nil { begun.open() }
            }
            try await begun.wait()
            task.cancel()
            try await bench.expectCancellation(of: task, "reading the body")
            try await bench.hangup(of: peer)
        },
        repeated("cancellation/at-random", "many calls that are cancelled at any moment end, and harm no others") {
            bench in
            let peer = try await bench.peer { $0.path == "/1" ? .stall : .answer(body: "fine") }
            let transport = try bench.transport { $0.maxConnectionsPerOrigin = 8 }
            let failure = await withTaskGroup(of: String?.self) { group in
                for index in 0..<60 {
                    group.addTask { [request = peer.request(.post, "/\(index % 3)")] in
                        let task = Task { try await bench.text(transport, request, MessageBody("x")) }
                        for _ in 0..<(index % 17) { await Task.yield() }
                        if index % 3 == 1 || index % 5 == 0 { task.cancel() }
                        switch await task.result {
                        case .success(let text): return text == "fine" ? nil : "a wrong answer: \(text)"
                        case .failure(let error): return error is CancellationError ? nil : "\(error)"
                        }
                    }
                }
                return await group.reduce(nil) { $0 ?? $1 }
            }
            if let failure { throw ConformanceFailure(failure) }
            let text = try await bench.text(transport, peer.request(.get, "/0"), nil)
            try bench.expect(text, is: "fine", "the next answer")
        },
    ]

    private static let waitingChecks: [Check] = [HTTPRequest.Method.get, .post].map { method in
        repeated(
            "cancellation/awaiting-the-head/\(method.rawValue)",
            "a cancellation while the answer is awaited ends the attempt, and the server sees it"
        ) { bench in
            let peer = try await bench.peer { $0.path == "/after" ? .answer() : .stall }
            let transport = try bench.transport()
            let request = peer.request(method)
            let body = method == .post ? MessageBody("x") : nil
            let task = Task { try await transport.send(request, body: body, options: AttemptOptions()) }
            try await peer.requests(count: 1)
            task.cancel()
            try await bench.expectCancellation(of: task, "awaiting the answer")
            try await bench.hangup(of: peer)
            _ = try await bench.fetch(transport, peer.request(.get, "/after"))
            try bench.expect(peer.requests.count, is: 2, "requests seen: nothing was sent again")
        }
    }

    // MARK: Shutdown

    static let shutdownChecks: [Check] = [
        repeated(
            "shutdown/later-calls",
            "after a shutdown every call fails, unsent, and a second shutdown does nothing"
        ) {
            bench in
            let peer = try await bench.peer { _ in .answer() }
            let transport = try bench.transport()
            _ = try await bench.fetch(transport, peer.request(.get, "/before"))
            await transport.shutdown()
            for shape in RequestShape.allCases {
                let attempt = await bench.attempt(transport, peer.request(shape.method, "/after"), shape.body)
                let seen = peer.requests.count { $0.path == "/after" }
                try bench.expect(attempt, endsWith: FaultVerdict([.shutDown], [.neverSent]), seen: seen)
            }
            await transport.shutdown()
        },
        repeated("shutdown/unused", "a transport that was never used can be shut down") { bench in
            let peer = try await bench.peer { _ in .answer() }
            let transport = try bench.transport()
            await transport.shutdown()
            let attempt = await bench.attempt(transport, peer.request(.post), MessageBody("x"))
            try bench.expect(attempt, endsWith: FaultVerdict([.shutDown], [.neverSent]), seen: peer.requests.count)
        },
        repeated("shutdown/awaiting-the-head", "a shutdown ends calls that wait for an answer, as perhaps processed") {
            bench in
            let peer = try await bench.peer { _ in .stall }
            let transport = try bench.transport()
            let tasks = RequestShape.allCases.map { shape in
                Task { [request = peer.request(shape.method)] in
                    await bench.attempt(transport, request, shape.body)
                }
            }
            try await peer.requests(count: tasks.count)
            await transport.shutdown()
            for task in tasks {
                try bench.expect(await task.value, endsWith: FaultVerdict([.shutDown], [.unknown]), seen: 1)
            }
            // Over HTTP/2 they share one.
            try await peer.hangups(count: Set(peer.requests.map(\.connection)).count)
            try bench.expect(peer.requests.count, is: tasks.count, "requests seen")
        },
        repeated("shutdown/in-the-body", "a shutdown ends a body that is still coming, as answered") { bench in
            let peer = try await bench.peer { _ in .steps([.send(Array("abc".utf8)), .stall], length: 9) }
            let transport = try bench.transport()
            let response = try await transport.send(peer.request(), body: nil, options: AttemptOptions())
            await transport.shutdown()
            var attempt = TransportBench.Attempt(head: response.head)
            do {
                attempt.body = try await response.body.collect(upTo: 100)
            } catch {
                attempt.error = error
            }
            try bench.expect(attempt, endsWith: FaultVerdict([.shutDown], [.answered]), seen: 1)
            try await peer.hangups(count: 1)
        },
        repeated("shutdown/upload", "a shutdown ends a body that is still being sent") { bench in
            let peer = try await bench.peer(bodies: .after(Signal())) { _ in .answer() }
            let transport = try bench.transport()
            let request = peer.request(.post)
            let body = MessageBody(once: EndlessStream(pieces: [Array("the beginning".utf8)]))
            let task = Task { await bench.attempt(transport, request, body) }
            try await peer.arrivals(count: 1)
            await transport.shutdown()
            // Whether a byte of it has left is not known here.
            let verdict = FaultVerdict([.shutDown], [.unknown, .neverSent])
            try bench.expect(await task.value, endsWith: verdict, seen: peer.requests.count)
            try await peer.hangups(count: 1)
        },
        repeated(
            "shutdown/in-the-queue",
            "a shutdown ends what waits for a connection, and tells it from what was sent"
        ) {
            bench in
            let peer = try await bench.peer { _ in .stall }
            let transport = try bench.transport { $0.maxConnectionsPerOrigin = 1 }
            let tasks = (0..<4).map { index in
                Task { [request = peer.request(.post, "/\(index)")] in
                    await bench.attempt(transport, request, MessageBody("x"))
                }
            }
            try await peer.requests(count: 1)
            await transport.shutdown()
            for (index, task) in tasks.enumerated() {
                let attempt = await task.value
                let seen = peer.requests.count { $0.path == "/\(index)" }
                try bench.expect(attempt, endsWith: FaultVerdict([.shutDown], [.unknown, .neverSent]), seen: seen)
            }
        },
        repeated("shutdown/idle-connections", "a shutdown closes connections that nobody uses", needs: [.sockets]) {
            bench in
            let peer = try await bench.peer { _ in .answer() }
            let transport = try bench.transport()
            _ = try await bench.fetch(transport, peer.request())
            await transport.shutdown()
            try await peer.hangups(count: 1)
        },
        repeated("shutdown/at-random", "a shutdown while many calls come and go ends each of them once") { bench in
            let peer = try await bench.peer { _ in .answer(body: "fine") }
            let transport = try bench.transport { $0.maxConnectionsPerOrigin = 4 }
            let results = await withTaskGroup(of: (path: String, attempt: TransportBench.Attempt).self) { group in
                for path in (0..<40).map({ "/\($0)" }) {
                    group.addTask { [request = peer.request(.post, path)] in
                        for _ in 0..<(path.utf8.count * 7 % 13) { await Task.yield() }
                        return (path, await bench.attempt(transport, request, MessageBody("x")))
                    }
                }
                for _ in 0..<9 { await Task.yield() }
                await transport.shutdown()
                return await group.reduce(into: []) { $0.append($1) }
            }
            for (path, attempt) in results {
                if attempt.error == nil {
                    try bench.expect(attempt.text, is: "fine", "the answer")
                } else {
                    let seen = peer.requests.count { $0.path == path }
                    try bench.expect(attempt, endsWith: FaultVerdict([.shutDown], [.unknown, .neverSent]), seen: seen)
                }
            }
        },
    ]
}

extension TransportBench {
    /// Waits until the client of a call that was cancelled has left.
    ///
    /// Over HTTP/2 its connection stays, and whether the stream is reset is not looked at: libcurl 7.88 does not do that.
    func hangup(of peer: ConformancePeer) async throws {
        if !speaksHTTP2 { try await peer.hangups(count: 1) }
    }

    /// The text of an answer; whatever goes wrong is thrown as it is.
    func text(_ transport: any HTTPTransport, _ request: HTTPRequest, _ body: MessageBody?) async throws -> String {
        let response = try await transport.send(request, body: body, options: AttemptOptions(timeout: .seconds(86_400)))
        return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
    }
}
