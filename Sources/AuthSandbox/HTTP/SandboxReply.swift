import HTTPRecoveryTesting

/// What is to be done about one request.
struct SandboxReply: Sendable {
    var response: SandboxResponse
    /// The sandbox's own time, for the Date header.
    var now: Int64
    var delivery: Delivery = .whole
    /// How long the answer is held back.
    var delay: Int64 = 0

    /// Whether the client gets an answer at all.
    var isAnswered: Bool { ![.reset, .close, .hang].contains(delivery) }

    /// The ways in which an answer can go wrong on the wire.
    enum Delivery: Sendable, Equatable {
        case whole
        /// RST, and nothing is sent.
        case reset
        /// An orderly end, and nothing is sent.
        case close
        /// Nothing is sent, ever.
        case hang
        /// Half of the body, then an orderly end or a RST.
        case truncated(reset: Bool)
        /// These bytes instead of HTTP, then an orderly end.
        case raw([UInt8])
        /// Byte after byte with a pause between.
        case trickle(pauseMilliseconds: Int64)
    }

    /// What the server does to carry the reply out.
    ///
    /// - Parameters:
    ///   - keepAlive: Whether another request may follow.
    ///   - omitBody: Whether it answers a HEAD.
    func steps(keepAlive: Bool, omitBody: Bool) -> FaultServer.Reply {
        let before: FaultServer.Reply = delay > 0 ? .pause(milliseconds: delay) : .bytes([])
        let end: FaultServer.Reply = keepAlive ? .bytes([]) : .finish
        let (head, body) = response.bytes(now: now, keepAlive: keepAlive, omitBody: omitBody)
        switch delivery {
        case .whole: return before.then(.bytes(head + body)).then(end)
        case .reset: return before.then(.reset)
        case .close: return before.then(.finish)
        case .hang: return before.then(.stall)
        case .raw(let bytes): return before.then(.bytes(bytes)).then(.finish)
        case .truncated(let reset):
            // A short pause lets the bytes arrive before the RST would throw them away.
            let ending: FaultServer.Reply = reset ? .pause(milliseconds: 50).then(.reset) : .finish
            return before.then(.bytes(head + body.prefix(body.count / 2))).then(ending)
        case .trickle(let pause): return before.then(.bytes(head)).then(.trickle(body, milliseconds: pause)).then(end)
        }
    }
}
