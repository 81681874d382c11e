/// What a connection does to answer a request, one step after the other.
///
/// Every fault is a list of these, so that the socket layer knows nothing of faults.
enum WireStep: Sendable, Equatable {
    /// Waits.
    case delay(milliseconds: Int64)
    /// Writes, and goes on when the kernel has taken everything.
    case write([UInt8])
    /// Writes byte after byte, with a pause before each.
    case trickle(ArraySlice<UInt8>, pauseMilliseconds: Int64)
    /// Ends the connection in order.
    case close
    /// Ends the connection with a RST.
    case reset
    /// Does nothing more until the client leaves.
    case hang
    /// The answer is complete; the connection takes the next request.
    case next
}

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

    /// The steps that carry the reply out.
    func steps(keepAlive: Bool, omitBody: Bool) -> [WireStep] {
        let before: [WireStep] = delay > 0 ? [.delay(milliseconds: delay)] : []
        let end: WireStep = keepAlive ? .next : .close
        let (head, body) = response.bytes(now: now, keepAlive: keepAlive, omitBody: omitBody)
        switch delivery {
        case .whole: return before + [.write(head + body), end]
        case .reset: return before + [.reset]
        case .close: return before + [.close]
        case .hang: return before + [.hang]
        case .raw(let bytes): return before + [.write(bytes), .close]
        case .truncated(let reset):
            // A short pause lets the bytes arrive before the RST would throw them away.
            let ending: [WireStep] = reset ? [.delay(milliseconds: 50), .reset] : [.close]
            return before + [.write(head + body.prefix(body.count / 2))] + ending
        case .trickle(let pause):
            return before + [.write(head), .trickle(body[...], pauseMilliseconds: pause), end]
        }
    }
}
