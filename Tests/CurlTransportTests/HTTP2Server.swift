import HTTPRecovery
import HTTPRecoveryTesting

/// A server that speaks as much of HTTP/2 (RFC 9113) as is needed to answer with bodies.
///
/// That is: settings, flow control, resets. Each connection is one thread.
enum HTTP2Server {
    /// What a stream gets.
    struct Answer: Sendable {
        /// Three digits.
        var status = "200"
        var bodyLength = 0
        var statesLength = true
        /// Whether it is given as soon as the header fields are there, and the rest of the request not waited for.
        var isEarly = false
        /// Whether the stream is reset with NO_ERROR behind it, as servers do that will not read the rest.
        var isFollowedByReset = false
    }

    /// - Parameters:
    ///   - maxStreams: The most streams at a time to a connection.
    ///   - answer: What a stream gets, by its number; nil closes the connection.
    static func start(
        maxStreams: UInt32 = 100,
        _ answer: @escaping @Sendable (UInt32) -> Answer?
    ) throws -> FaultServer {
        try FaultServer(
            plan: { _ in
                .raw { connection in
                    var session = Session(connection: connection, answer: answer)
                    session.run(maxStreams: maxStreams)
                }
            },
            reply: { _ in .answer() }
        )
    }

    private struct Session {
        let connection: FaultServer.Connection
        let answer: @Sendable (UInt32) -> Answer?
        /// How much may be sent on the connection, and at first on each stream.
        var window = 65_535
        var initialWindow = 65_535
        var outgoing: [Outgoing] = []

        struct Outgoing {
            let stream: UInt32
            var answer: Answer
            var window: Int
        }

        init(connection: FaultServer.Connection, answer: @escaping @Sendable (UInt32) -> Answer?) {
            self.connection = connection
            self.answer = answer
        }

        mutating func run(maxStreams: UInt32) {
            guard connection.read(exactly: 24) != nil else { return }
            connection.write(HTTP2Frame.bytes(type: 4, flags: 0, stream: 0, [0, 3] + HTTP2Frame.big(maxStreams)))
            var windows: [UInt32: Int] = [:]
            while let frame = HTTP2Frame.read(from: connection) {
                switch frame.type {
                case 0 where !frame.payload.isEmpty:
                    // What has come may come again on the connection; the stream's own share is not given back here.
                    connection.write(
                        HTTP2Frame.bytes(type: 8, flags: 0, stream: 0, HTTP2Frame.big(UInt32(frame.payload.count)))
                    )
                case 3: outgoing.removeAll { $0.stream == frame.stream }
                case 4 where frame.flags & 1 == 0:
                    readSettings(frame.payload)
                    connection.write(HTTP2Frame.settingsAck)
                case 8:
                    let increment = frame.payload.reduce(0) { $0 << 8 | Int($1) }
                    if frame.stream == 0 {
                        window += increment
                    } else if let index = outgoing.firstIndex(where: { $0.stream == frame.stream }) {
                        outgoing[index].window += increment
                    } else {
                        windows[frame.stream, default: 0] += increment
                    }
                default: break
                }
                guard isDue(frame, window: windows[frame.stream] ?? 0) else { return connection.close() }
                flush()
            }
        }

        /// Answers a request that is whole, or that gets its answer early; false if the connection is to end.
        private mutating func isDue(_ frame: HTTP2Frame, window: Int) -> Bool {
            guard frame.type <= 1 else { return true }
            let isWhole = frame.flags & 1 == 1
            guard frame.type == 1 || isWhole else { return true }
            if frame.type == 1 {
                connection.record(.init(method: "", path: "/\(frame.stream)", connection: connection.id))
            }
            guard let answer = self.answer(frame.stream) else { return false }
            guard isWhole != answer.isEarly else { return true }
            // Without indexing: `:status` and `content-length`, 8 and 28 of the static table.
            var block = [0x08, 0x03] + Array(answer.status.utf8)
            if answer.statesLength {
                let length = Array(String(answer.bodyLength).utf8)
                block += [0x0f, 0x0d, UInt8(length.count)] + length
            }
            let flags: UInt8 = answer.bodyLength == 0 ? 5 : 4
            connection.write(HTTP2Frame.bytes(type: 1, flags: flags, stream: frame.stream, block))
            outgoing.append(Outgoing(stream: frame.stream, answer: answer, window: initialWindow + window))
            return true
        }

        private mutating func readSettings(_ payload: [UInt8]) {
            var rest = payload[...]
            while rest.count >= 6 {
                let value = rest.dropFirst(2).prefix(4).reduce(0) { $0 << 8 | Int($1) }
                if rest.prefix(2).elementsEqual([0, 4]) {
                    for index in outgoing.indices { outgoing[index].window += value - initialWindow }
                    initialWindow = value
                }
                rest = rest.dropFirst(6)
            }
        }

        /// Sends what the windows let through, a frame of each stream in turn.
        private mutating func flush() {
            var isStuck = false
            while !isStuck {
                isStuck = true
                for index in outgoing.indices {
                    let count = min(outgoing[index].answer.bodyLength, 16_384, window, outgoing[index].window)
                    guard count > 0 else { continue }
                    outgoing[index].answer.bodyLength -= count
                    outgoing[index].window -= count
                    window -= count
                    let flags: UInt8 = outgoing[index].answer.bodyLength == 0 ? 1 : 0
                    let bytes = [UInt8](repeating: UInt8(ascii: "b"), count: count)
                    connection.write(HTTP2Frame.bytes(type: 0, flags: flags, stream: outgoing[index].stream, bytes))
                    isStuck = false
                }
            }
            for ended in outgoing where ended.answer.bodyLength == 0 && ended.answer.isFollowedByReset {
                connection.write(HTTP2Frame.reset(ended.stream, code: 0))
            }
            outgoing.removeAll { $0.answer.bodyLength == 0 }
        }
    }
}
