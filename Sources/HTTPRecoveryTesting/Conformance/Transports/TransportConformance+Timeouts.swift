import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    static let timeoutChecks: [Check] = passingTimeoutChecks + sendLimitChecks + lastMomentChecks + abilityChecks

    private static let abilityChecks: [Check] = [
        Check("abilities/declared", "the transport says of itself what the tests say of it") { bench in
            let transport = try bench.transport()
            let abilities = bench.subject.abilities
            try bench.expect(
                transport.enforcesTimeouts,
                is: abilities.contains(.enforcesTimeouts),
                "enforcesTimeouts"
            )
            try bench.expect(transport.keepsSendLimits, is: abilities.contains(.keepsSendLimits), "keepsSendLimits")
            try bench.expect(!transport.name.isEmpty, "it has a name")
        }
    ]

    private static let passingTimeoutChecks: [Check] = [
        Check("timeouts/awaiting-the-head", "the time covers the waiting for an answer") { bench in
            for shape in RequestShape.allCases {
                try await TimeLimit.tried { limit in
                    let peer = try await bench.peer { _ in
                        limit.isMet()
                        return .stall
                    }
                    let transport = try bench.timed(bench.transport())
                    let request = peer.request(shape.method)
                    let attempt = await bench.attempt(transport, request, shape.body, options: limit.begin())
                    try limit.judge(attempt)
                    let seen = peer.requests.count
                    try bench.expect(attempt, endsWith: FaultVerdict([.timedOut], [.unknown]), seen: seen)
                    try bench.expect(seen, is: 1, "requests seen")
                }
            }
        },
        Check("timeouts/in-the-body", "the time covers the body of the answer") { bench in
            try await TimeLimit.tried { limit in
                let peer = try await bench.peer { _ in
                    limit.isMet()
                    return .steps([.send(Array("abc".utf8)), .stall], length: 9)
                }
                let transport = try bench.timed(bench.transport())
                let attempt = await bench.attempt(transport, peer.request(), options: limit.begin())
                try limit.judge(attempt)
                let seen = peer.requests.count
                try bench.expect(attempt, endsWith: FaultVerdict([.timedOut], [.answered]), seen: seen)
                try bench.expect(seen, is: 1, "requests seen")
            }
        },
        Check("timeouts/upload", "the time covers a body that nobody takes") { bench in
            let peer = try await bench.peer(bodies: .never) { _ in .stall }
            let transport = try bench.timed(bench.transport())
            let body = MessageBody(once: EndlessStream(pieces: [Array("the beginning".utf8)]))
            let options = AttemptOptions(timeout: .milliseconds(500))
            let attempt = await bench.attempt(transport, peer.request(.post), body, options: options)
            // One that waits for the whole body before it begins has sent nothing.
            let seen = peer.requests.count
            let certainties: Set<TransportError.Certainty> = seen == 0 ? [.unknown, .neverSent] : [.unknown]
            try bench.expect(attempt, endsWith: FaultVerdict([.timedOut], certainties), seen: seen)
        },
        Check("timeouts/queue", "the time covers the waiting for a connection") { bench in
            let peer = try await bench.peer { _ in .stall }
            let transport = try bench.timed(bench.transport { $0.maxConnectionsPerOrigin = 1 })
            let first = Task { [request = peer.request(.get, "/first")] in
                try await transport.send(request, body: nil, options: AttemptOptions())
            }
            try await peer.requests(count: 1)
            let options = AttemptOptions(timeout: .milliseconds(200))
            let attempt = await bench.attempt(
                transport,
                peer.request(.post, "/next"),
                MessageBody("x"),
                options: options
            )
            let seen = peer.requests.count { $0.path == "/next" }
            try bench.expect(attempt, endsWith: FaultVerdict([.timedOut], [.unknown, .neverSent]), seen: seen)
            first.cancel()
            _ = await first.result
        },
        Check(
            "timeouts/connecting",
            "a time that is over in the handshake proves that nothing was sent",
            needs: [.sockets, .enforcesTimeouts]
        ) {
            bench in
            let server = try bench.server(plan: { _ in .stall })
            let request = HTTPRequest(method: .post, scheme: "https", authority: server.authority, path: "/")
            let options = AttemptOptions(timeout: .milliseconds(200))
            let attempt = await bench.attempt(try bench.transport(), request, MessageBody("x"), options: options)
            try bench.expect(attempt, endsWith: FaultVerdict([.timedOut], [.neverSent]), seen: 0)
        },
        Check("timeouts/connect-limit", "the limit on connecting proves that nothing was sent", needs: [.sockets]) {
            bench in
            let server = try bench.server(plan: { _ in .stall })
            let transport = try bench.transport { $0.connectTimeout = .milliseconds(200) }
            let request = HTTPRequest(method: .post, scheme: "https", authority: server.authority, path: "/")
            let attempt = await bench.attempt(transport, request, MessageBody("x"))
            let verdict = FaultVerdict([.timedOut, .cannotConnect, .tlsFailed], [.neverSent])
            try bench.expect(attempt, endsWith: verdict, seen: 0)
        },
        Check(
            "timeouts/none-left",
            "a time of nothing is over before anything is sent",
            needs: [.exchanges, .enforcesTimeouts]
        ) {
            bench in
            let peer = try await bench.peer { _ in .answer() }
            let options = AttemptOptions(timeout: .zero)
            let attempt = await bench.attempt(try bench.transport(), peer.request(), options: options)
            try bench.expect(attempt, endsWith: FaultVerdict([.timedOut], [.neverSent]), seen: peer.requests.count)
        },
        Check("timeouts/endless", "the longest time there is, and none, are no trouble") { bench in
            let peer = try await bench.peer { _ in .answer() }
            let transport = try bench.timed(bench.transport())
            for timeout in [Duration.seconds(Int64.max), .seconds(86_400 * 365 * 200), nil] {
                _ = try await bench.fetch(transport, peer.request(), options: AttemptOptions(timeout: timeout))
            }
        },
        Check(
            "timeouts/unread-body",
            "the time ends a transfer whose body nobody reads",
            needs: [.exchanges, .enforcesTimeouts]
        ) {
            bench in
            try await TimeLimit.tried { limit in
                let sent = Locked(0)
                let peer = try await bench.peer { _ in
                    limit.isMet()
                    return .steps([.flood(pieces: 4096, sent: sent)], length: 4096 << 16)
                }
                let transport = try bench.transport()
                var attempt = TransportBench.Attempt()
                do {
                    let response = try await transport.send(peer.request(), body: nil, options: limit.begin())
                    attempt.head = response.head
                    try await peer.hangups(count: 1)
                    for try await _ in response.body {}
                } catch {
                    attempt.error = error
                }
                try limit.judge(attempt)
                try bench.expect(attempt, endsWith: FaultVerdict([.timedOut], [.answered]), seen: 1)
            }
        },
    ]

    // MARK: Send limits

    /// A clock that goes one second further each time somebody looks at it.
    private final class LookingClock: Clock, Sendable {
        typealias Instant = ManualClock.Instant
        private let looks = Locked<Int64>(-1)

        var now: Instant {
            looks.withLock { looks in
                looks += 1
                return Instant(offset: .seconds(looks))
            }
        }

        var minimumResolution: Duration { .seconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw CancellationError() }
    }

    private static let sendLimitChecks: [Check] =
        [
            Check("send-limit/passed", "what may not leave any more does not", needs: [.exchanges, .keepsSendLimits]) {
                bench in
                let peer = try await bench.peer { _ in .answer() }
                let transport = try bench.transport()
                let time = ManualClock().timeSource()
                for shape in RequestShape.allCases {
                    let options = AttemptOptions(sendLimit: .init(time.now, time: time))
                    let attempt = await bench.attempt(
                        transport,
                        peer.request(shape.method),
                        shape.body,
                        options: options
                    )
                    let verdict = FaultVerdict([.sendLimitPassed], [.neverSent])
                    let error = try bench.expect(attempt, endsWith: verdict, seen: peer.requests.count)
                    try bench.expect(!error.isTransient, "trying again cannot help")
                }
            },
            Check("send-limit/in-time", "what is in time is sent", needs: [.exchanges, .keepsSendLimits]) { bench in
                let peer = try await bench.peer { _ in .answer() }
                let time = ManualClock().timeSource()
                let limit = AttemptOptions.SendLimit(time.now.advanced(by: .nanoseconds(1)), time: time)
                _ = try await bench.fetch(bench.transport(), peer.request(), options: AttemptOptions(sendLimit: limit))
                try bench.expect(peer.requests.count, is: 1, "requests seen")
            },
            Check(
                "send-limit/in-the-queue",
                "a limit that passes in the queue is kept",
                needs: [.sockets, .keepsSendLimits]
            ) {
                bench in
                let peer = try await bench.peer { $0.path == "/first" ? .stall : .answer() }
                let transport = try bench.transport { $0.maxConnectionsPerOrigin = 1 }
                let first = Task { [request = peer.request(.get, "/first")] in
                    try await transport.send(request, body: nil, options: AttemptOptions())
                }
                try await peer.requests(count: 1)
                let clock = ManualClock()
                let time = clock.timeSource()
                let limit = AttemptOptions.SendLimit(time.now.advanced(by: .seconds(1)), time: time)
                let second = Task { [request = peer.request(.post, "/second")] in
                    await bench.attempt(transport, request, MessageBody("x"), options: AttemptOptions(sendLimit: limit))
                }
                clock.advance(by: .seconds(1))
                first.cancel()
                let seen = peer.requests.count { $0.path == "/second" }
                let attempt = await second.value
                // A transport without a queue may have sent it while there was time.
                if attempt.error == nil { return try bench.expect(seen, is: 1, "requests seen") }
                try bench.expect(attempt, endsWith: FaultVerdict([.sendLimitPassed], [.neverSent]), seen: seen)
            },
        ]

    private static let lastMomentChecks: [Check] = [false, true].map { isReused in
        Check(
            "send-limit/at-the-last-moment/\(isReused ? "reused" : "new")",
            "a limit that passes between the call and the writing is kept",
            needs: [.sockets, .keepsSendLimits]
        ) { bench in
            let peer = try await bench.peer { _ in .answer() }
            let transport = try bench.transport()
            if isReused { _ = try await bench.fetch(transport, peer.request(.get, "/first")) }
            // Not passed at the first look, when the attempt begins; at the second it is.
            let time = TimeSource(clock: LookingClock())
            let limit = AttemptOptions.SendLimit(TimeSource.Instant(sinceStart: .seconds(2)), time: time)
            let options = AttemptOptions(sendLimit: limit)
            let attempt = await bench.attempt(
                transport,
                peer.request(.post, "/late"),
                MessageBody("x"),
                options: options
            )
            let seen = peer.requests.count { $0.path == "/late" }
            try bench.expect(attempt, endsWith: FaultVerdict([.sendLimitPassed], [.neverSent]), seen: seen)
            _ = try await bench.fetch(transport, peer.request(.get, "/last"))
        }
    }
}

extension TransportBench {
    /// The transport as the client uses it: raced against the clock if it does not keep time itself.
    func timed(_ transport: any HTTPTransport) -> any HTTPTransport {
        transport.enforcesTimeouts ? transport : TimedTransport(transport, time: TimeSource(clock: ContinuousClock()))
    }
}
