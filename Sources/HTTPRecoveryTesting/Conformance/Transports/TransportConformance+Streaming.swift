import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// So much that no buffer on the way holds it: 64 MiB in pieces of 64 KiB.
    private static let flood = 1024

    static let streamingChecks: [Check] = otherStreamingChecks + [bothWays]

    static let bothWays = Check(
        "streaming/both-ways",
        "the rest of a request is sent when the beginning of its answer was read"
    ) {
        bench in
        let pieces = ["ab", "cd", "ef", "gh"].map { Array($0.utf8) }
        let turns = pieces.map { _ in Signal() }
        let peer = try await bench.peer(bodies: .never) { _ in .steps([.echo]) }
        let body = MessageBody(once: TurnStream(pieces: pieces, turns: turns))
        turns[0].open()
        let response = try await bench.transport().send(peer.request(.post), body: body, options: AttemptOptions())
        try bench.expect(response.head.status.code, is: 200, "the status")
        var text = ""
        for try await piece in response.body {
            text += String(decoding: piece, as: UTF8.self)
            // A piece of the request goes when the one before it has come back.
            for turn in turns.prefix(text.utf8.count / 2 + 1) { turn.open() }
        }
        try bench.expect(text, is: "abcdefgh", "the body")
    }

    private static let otherStreamingChecks: [Check] = [
        Check("streaming/head-first", "the head is handed over before the body has come") { bench in
            let more = Signal()
            let peer = try await bench.peer { _ in .steps([.wait(more), .send(Array("late".utf8))], length: 4) }
            let response = try await bench.transport().send(peer.request(), body: nil, options: AttemptOptions())
            try bench.expect(response.head.status.code, is: 200, "the status")
            more.open()
            let body = try await response.body.collect(upTo: 100)
            try bench.expect(String(decoding: body, as: UTF8.self), is: "late", "the body")
        },
        Check("streaming/piece-by-piece", "each piece of a body can be read before the next is sent") { bench in
            for length in [6, nil] {
                let gates = [Signal(), Signal()]
                let peer = try await bench.peer { _ in
                    .steps(
                        [
                            .send(Array("ab".utf8)), .wait(gates[0]), .send(Array("cd".utf8)), .wait(gates[1]),
                            .send(Array("ef".utf8)),
                        ],
                        length: length
                    )
                }
                let response = try await bench.transport().send(peer.request(), body: nil, options: AttemptOptions())
                var text = ""
                for try await piece in response.body {
                    text += String(decoding: piece, as: UTF8.self)
                    if text.utf8.count >= 2 { gates[0].open() }
                    if text.utf8.count >= 4 { gates[1].open() }
                }
                try bench.expect(text, is: "abcdef", "the body")
            }
        },
        Check("streaming/slow-reader", "a reader that does not read bounds what is received") { bench in
            let sent = Locked(0)
            let peer = try await bench.peer { _ in .steps([.flood(pieces: flood, sent: sent)]) }
            let transport = try bench.transport()
            let response = try await transport.send(peer.request(), body: nil, options: AttemptOptions())
            try await bench.settled("what the server has sent", below: flood / 2, transport) { sent.withLock { $0 } }
            var count = 0
            for try await piece in response.body { count += piece.count }
            try bench.expect(count, is: flood * PeerReply.floodPiece, "bytes read after all")
        },
        Check("streaming/slow-server", "a server that does not read bounds what is taken from a streamed body") {
            bench in
            let read = Signal()
            let peer = try await bench.peer(bodies: .after(read)) { .answer(body: String($0.body.count)) }
            let stream = PieceStream(pieces: Array(repeating: [UInt8](repeating: 9, count: 65_536), count: flood))
            let transport = try bench.transport()
            let request = peer.request(.post)
            let upload = Task { try await bench.fetch(transport, request, MessageBody(once: stream)) }
            try await peer.arrivals(count: 1)
            try await bench.settled("what was taken of the body", below: flood / 2, transport) {
                stream.count.withLock { $0 }
            }
            read.open()
            let (_, body) = try await upload.value
            try bench.expect(String(decoding: body, as: UTF8.self), is: String(flood * 65_536), "bytes received")
        },
        Check("streaming/dropped", "a body that is dropped unread ends the transfer") { bench in
            let peer = try await bench.peer { _ in .steps([.send(Array("abc".utf8)), .stall], length: 9) }
            let transport = try bench.transport()
            _ = try await transport.send(peer.request(), body: nil, options: AttemptOptions())
            try await peer.hangups(count: 1)
        },
        Check("streaming/dropped-half-read", "a body of which the rest is dropped ends the transfer") { bench in
            let peer = try await bench.peer { _ in .steps([.send(Array("abc".utf8)), .stall]) }
            let transport = try bench.transport()
            let response = try await transport.send(
                peer.request(.post),
                body: MessageBody("x"),
                options: AttemptOptions()
            )
            for try await _ in response.body { break }
            try await peer.hangups(count: 1)
        },
        Check("streaming/dropped-flood", "a body that still floods in when it is dropped ends the transfer") { bench in
            let sent = Locked(0)
            // Some gigabytes: more than arrives on a busy machine before whoever drops it has its turn.
            let pieces = 64 * flood
            let peer = try await bench.peer { _ in .steps([.flood(pieces: pieces, sent: sent)], length: pieces << 16) }
            let transport = try bench.transport()
            _ = try await transport.send(peer.request(), body: nil, options: AttemptOptions())
            try await peer.hangups(count: 1)
            try bench.expect(sent.withLock { $0 } < pieces, "not all of it was received")
        },
        Check("streaming/several-at-once", "bodies that come at the same time are read in any order") { bench in
            let gate = Signal()
            let peer = try await bench.peer { request in
                .steps([.send(Array(request.path.utf8)), .wait(gate), .send(Array("!".utf8))])
            }
            let transport = try bench.transport()
            var bodies: [MessageBody] = []
            for index in 0..<6 {
                let request = peer.request(.get, "/\(index)")
                bodies.append(try await transport.send(request, body: nil, options: AttemptOptions()).body)
            }
            gate.open()
            for (index, body) in bodies.enumerated().reversed() {
                let text = String(decoding: try await body.collect(upTo: 100), as: UTF8.self)
                try bench.expect(text, is: "/\(index)!", "the body")
            }
        },
        Check("streaming/read-once", "a body that streams is read once, and says so") { bench in
            let peer = try await bench.peer { _ in .steps([.send(Array("abc".utf8)), .send(Array("def".utf8))]) }
            let response = try await bench.transport().send(peer.request(), body: nil, options: AttemptOptions())
            _ = try await response.body.collect(upTo: 100)
            if response.body.bytesInMemory == nil {
                try bench.expect(!response.body.canBeRead, "nothing is left to read")
            }
        },
    ]
}

extension TransportBench {
    /// Fails unless a number stops growing, below a limit.
    ///
    /// Other requests over the same transport are how it is seen that time has passed for it: the number has to stay
    /// the same over some dozens of them.
    func settled(
        _ what: String,
        below limit: Int,
        _ transport: any HTTPTransport,
        _ number: @escaping @Sendable () -> Int
    ) async throws {
        let other = try await peer { _ in .answer(bytes: [UInt8](repeating: 1, count: 1 << 18)) }
        var last = -1
        var calm = 0
        while calm < 24 {
            _ = try await fetch(transport, other.request())
            let now = number()
            calm = now == last ? calm + 1 : 0
            last = now
            try expect(now < limit, "\(what) is bounded: \(now) pieces already")
        }
    }
}
