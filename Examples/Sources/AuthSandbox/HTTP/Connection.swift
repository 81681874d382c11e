import Glibc

/// One client's connection; lives on the event loop's thread only.
final class Connection {
    let descriptor: Int32
    /// Counted from 1, never used twice.
    let number: Int
    let peer: String
    var parser = RequestParser()
    /// When its newest bytes arrived, in milliseconds of the system's clock.
    var arrival: Int64?
    /// What is left to do about the request at hand.
    var steps: ArraySlice<WireStep> = []
    /// The bytes being written.
    var output: ArraySlice<UInt8> = []
    /// A timer is running, or an upstream is being asked; nothing happens until then.
    var isWaiting = false
    /// No answer will ever come, or the connection is only being drained; what arrives is thrown away.
    var isDeaf = false
    /// The client has finished sending.
    var sawEnd = false
    /// How the request at hand wants to be answered.
    private var manner = (keepAlive: false, omitBody: false)
    /// The events asked of epoll.
    var interest: UInt32 = 0

    init(descriptor: Int32, number: Int, peer: String) {
        self.descriptor = descriptor
        self.number = number
        self.peer = peer
    }

    /// What the event loop has to do when the connection can go no further by itself.
    enum Pause {
        /// Wait for bytes, or for room to write.
        case socket
        /// Wake up after this time.
        case timer(milliseconds: Int64)
        /// Ask the upstream, and hand its answer to ``answer(_:)``.
        case upstream(ForwardedCall)
        /// End in order.
        case close
        /// End with a RST.
        case reset
    }

    /// Goes on until something has to be waited for.
    func advance(_ handle: (SandboxRequest) -> SandboxAction) -> Pause {
        while !isWaiting {
            if !output.isEmpty {
                let (count, error) = Sockets.send(descriptor, output)
                if count < 0 { return error == EAGAIN || error == EINTR ? .socket : .reset }
                output = output.dropFirst(count)
                continue
            }
            if isDeaf { return sawEnd ? .close : .socket }
            if let step = steps.popFirst() {
                switch step {
                case .delay(let milliseconds):
                    isWaiting = true
                    return .timer(milliseconds: milliseconds)
                case .write(let bytes): output = bytes[...]
                case .trickle(let bytes, let pause):
                    guard let first = bytes.first else { continue }
                    let rest = WireStep.trickle(bytes.dropFirst(), pauseMilliseconds: pause)
                    steps = [.delay(milliseconds: pause), .write([first]), rest] + steps
                case .close: return .close
                case .reset: return .reset
                case .hang: isDeaf = true
                case .next: continue
                }
                continue
            }
            switch parser.next() {
            case .incomplete: return sawEnd ? .close : .socket
            case .expectsContinue: output = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...]
            case .invalid(let status, let reason):
                let refusal = SandboxReply(
                    response: .text(reason + "\n", status: status),
                    now: Sockets.milliseconds(CLOCK_REALTIME)
                )
                steps = refusal.steps(keepAlive: false, omitBody: false)[...]
            case .request(let head, let body):
                let request = SandboxRequest(
                    method: head.method,
                    target: head.target,
                    headers: head.headers,
                    body: body,
                    peer: peer,
                    connection: number,
                    arrival: arrival
                )
                manner = (head.keepAlive, head.method == "HEAD")
                switch handle(request) {
                case .reply(let reply): answer(reply)
                case .forward(let call):
                    isWaiting = true
                    return .upstream(call)
                }
            }
        }
        return .socket
    }

    /// Begins to answer the request at hand; the next ``advance(_:)`` carries it out.
    func answer(_ reply: SandboxReply) {
        isWaiting = false
        steps = reply.steps(keepAlive: manner.keepAlive, omitBody: manner.omitBody)[...]
    }
}
