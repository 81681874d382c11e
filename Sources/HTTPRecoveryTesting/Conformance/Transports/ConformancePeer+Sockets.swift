import HTTPRecovery

extension ConformancePeer {
    /// Serves a connection.
    static func serve(
        _ connection: FaultServer.Connection,
        _ bodies: Bodies,
        _ reply: (FaultServer.Request) -> PeerReply
    ) {
        var reader = RequestReader(connection, maximumBodyLength: 1 << 40)
        var index = 0
        while let head = reader.head() {
            var request = FaultServer.Request(head, connection: connection.id, index: index)
            index += 1
            if case .after(let signal) = bodies, connection.wait(for: signal.gate, milliseconds: -1) != .gate { return }
            switch bodies {
            case .never: break
            case .read, .after:
                guard case .request(_, let body) = reader.request() else { return }
                request.body = body
            }
            // Decided first, so that whoever has seen the request can rely on the reply's state.
            let reply = reply(request)
            connection.record(request)
            guard perform(reply, on: connection, &reader, isHead: head.method == "HEAD") else { return }
        }
    }

    /// Carries out a reply; false when the connection is at its end.
    private static func perform(
        _ reply: PeerReply,
        on connection: FaultServer.Connection,
        _ reader: inout RequestReader,
        isHead: Bool
    ) -> Bool {
        for step in reply.before {
            guard perform(step, on: connection, &reader, isChunked: false) else { return false }
        }
        var lines = ["HTTP/1.1 \(reply.status) "] + reply.fields.map { "\($0.name): \($0.value)" }
        switch reply.framing {
        case .length(let length): lines.append("Content-Length: \(length)")
        case .chunked: lines.append("Transfer-Encoding: chunked")
        case .none: break
        }
        guard connection.write(Array((lines + ["", ""]).joined(separator: "\r\n").utf8)) else { return false }
        if isHead { return true }
        let isChunked = reply.framing == .chunked
        for step in reply.body {
            guard perform(step, on: connection, &reader, isChunked: isChunked) else { return false }
        }
        return !isChunked || connection.write(Array("0\r\n\r\n".utf8))
    }

    private static func perform(
        _ step: PeerReply.Step,
        on connection: FaultServer.Connection,
        _ reader: inout RequestReader,
        isChunked: Bool
    ) -> Bool {
        func framed(_ bytes: [UInt8]) -> [UInt8] {
            if !isChunked { return bytes }
            return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
        switch step {
        case .send(let bytes): return connection.write(framed(bytes))
        case .wait(let signal): return connection.wait(for: signal.gate, milliseconds: -1) == .gate
        case .open(let signal):
            signal.open()
            return true
        case .stall:
            connection.waitForHangup()
            return false
        case .flood(let pieces, let sent):
            let piece = framed([UInt8](repeating: 7, count: PeerReply.floodPiece))
            for _ in 0..<pieces {
                guard connection.write(piece) else { return false }
                sent.withLock { $0 += 1 }
            }
            return true
        case .echo: return reader.eachPiece { connection.write(framed($0)) }
        case .cut:
            connection.reset()
            return false
        }
    }
}
