extension FaultServer {
    /// Starts a server of HTTP/2 over plain text, or behind something that ends TLS.
    ///
    /// A request is whole with END_STREAM, and recorded then, with the number of its stream as its path. An answer
    /// before that can stall libcurl 7.88.
    ///
    /// - Parameter answer: Gets each whole request's stream, and its place among the requests of the server, counted
    ///   from 0; returns what is done.
    package static func http2(
        _ answer: @escaping @Sendable (_ stream: UInt32, _ index: Int) -> HTTP2Answer
    ) throws -> FaultServer {
        let place = Counter()
        return try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(HTTP2Frame.settings)
                    var reader = HTTP2FieldReader()
                    while let frame = HTTP2Frame.read(from: connection) {
                        if frame.type == 4, frame.flags & 1 == 0 { connection.write(HTTP2Frame.settingsAck) }
                        if let fields = reader.take(frame) {
                            connection.recordHead(ofCall: fields.first { $0.name == CallLedger.field }?.value)
                        }
                        guard frame.endsStream else { continue }
                        connection.record(.init(method: "", path: "/\(frame.stream)", connection: connection.id))
                        let answer = answer(frame.stream, place.next())
                        connection.write(answer.bytes)
                        if let later = answer.later {
                            guard connection.wait(for: answer.gate, milliseconds: -1) == .gate else { return }
                            connection.write(later)
                        }
                        switch answer.end {
                        case .none: continue
                        case .close: return connection.close()
                        case .reset: return connection.reset()
                        case .endless(let bytes):
                            while connection.write(bytes) {}
                            return
                        }
                    }
                }
            },
            reply: { _ in .answer() }
        )
    }
}

/// What a server of HTTP/2 does with a request.
package struct HTTP2Answer: Sendable {
    package enum End: Sendable {
        case none, close, reset
        /// Sends the bytes again and again until the client leaves.
        case endless([UInt8])
    }

    package var bytes: [UInt8]
    /// What is sent when the gate is open; nil if that is nothing, and then there is no waiting.
    package var later: [UInt8]?
    package var gate: FaultServer.Gate?
    package var end: End

    package init(_ bytes: [UInt8] = [], later: [UInt8]? = nil, then end: End = .none) {
        (self.bytes, self.later, self.end) = (bytes, later, end)
    }
}
