#if AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPCompression

extension LoopPool {
    /// Puts the handlers into the pipeline of a connection that speaks HTTP/1.1.
    ///
    /// The client calls it when its own handlers are in their places, and waits for it before it sends. A connection
    /// whose pipeline is not as expected is not used: without the handlers nobody would know what was sent.
    func watchConnection(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let watched = WatchedConnection(pool: self, scansHead: true)
            let encoder = try pipeline.context(handlerType: HTTPRequestEncoder.self).handler
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self).handler
            try pipeline.addHandler(ByteWatch(watched), position: .before(encoder))
            try addHandlers(watched, to: pipeline, after: decoder)
        }
    }

    /// The same for one stream of a connection that speaks HTTP/2.
    func watchStream(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let watched = WatchedConnection(pool: self, scansHead: false)
            let codec = try pipeline.context(handlerType: HTTP2FramePayloadToHTTP1ClientCodec.self).handler
            try pipeline.addHandler(StatusGuard(), position: .before(codec))
            try addHandlers(watched, to: pipeline, after: codec)
            guard let parent = channel.parent else { throw TransportError.shutDown }
            try parent.pipeline.syncOperations.handler(type: RefusalWatch.self).watch(channel, watched)
        }
    }

    private func addHandlers(
        _ watched: WatchedConnection,
        to pipeline: ChannelPipeline.SynchronousOperations,
        after codec: any ChannelHandler
    ) throws {
        let wire = WireHandler(watched)
        try pipeline.addHandler(wire, position: .after(codec))
        guard configuration.decompresses else {
            return try pipeline.addHandler(BodyGuard(watched), position: .after(wire))
        }
        let decompressor = try pipeline.context(handlerType: NIOHTTPResponseDecompressor.self)
        wire.decompressor = decompressor
        try pipeline.addHandler(BodyGuard(watched), position: .after(decompressor.handler))
    }
}

/// What the handlers of one connection, or of one HTTP/2 stream, share; confined to its loop.
final class WatchedConnection {
    /// The pool outlives its connections: they keep it until they are closed.
    let pool: LoopPool
    /// The transfer whose request went out last and whose response is not whole yet.
    var transfer: Transfer?
    /// Finds the response's head among the bytes.
    var scanner: HeadScanner

    /// How a body ends.
    private enum Framing {
        case withConnection
        case chunked
        case bytes(Int)
    }

    private var framing = Framing.withConnection
    /// How many bytes have come since the request went out, and the last four of them.
    private var receivedBytes = 0
    private var tail: UInt32 = 0
    /// Whether something came in one piece with the end of a response, behind it.
    private(set) var hasExcess = false

    /// Whether a request has gone out on the connection before.
    var isReused = false
    /// Whether the request's last part has not gone out yet.
    private(set) var isSending = false
    /// What waits until it has.
    private var held: (() -> Void)?

    init(pool: LoopPool, scansHead: Bool) {
        self.pool = pool
        scanner = HeadScanner(isActive: false)
        self.scansHead = scansHead
    }

    private let scansHead: Bool

    /// A request goes out, and its response is expected.
    func begin(_ transfer: Transfer) {
        self.transfer = transfer
        isReused = true
        isSending = true
        held = nil
        scanner = HeadScanner(isActive: scansHead)
        (framing, receivedBytes, tail) = (.withConnection, 0, 0)
    }

    // MARK: Where a response over HTTP/1.1 ends

    /// Takes note of what has come, before anything is made of it.
    func noteReceived(_ bytes: ByteBufferView) {
        receivedBytes += bytes.count
        for byte in bytes.suffix(4) { tail = tail << 8 | UInt32(byte) }
    }

    /// The head of a response is whole, and says how its body ends.
    func expectBody(_ headers: HTTPHeaders) {
        if headers.contains(name: "Transfer-Encoding") {
            framing = .chunked
        } else if let length = headers.first(name: "Content-Length").flatMap({ Int($0) }) {
            framing = .bytes(length)
        } else {
            framing = .withConnection
        }
    }

    /// The last part of a response has been found among what has come.
    ///
    /// What stands behind it, the beginning of another's head for one, the parser would keep for the next request.
    func responseHasEnded() {
        guard scansHead else { return }
        switch framing {
        case .withConnection: break
        case .bytes(let count):
            // An empty line is forgiven (RFC 9112, section 2.2).
            let excess = receivedBytes - scanner.count - count
            hasExcess = excess > 0 && !(excess == 2 && tail & 0xffff == 0x0d0a)
        // A body of chunks ends with an empty line. If what is behind it has one, the parser has refused that.
        case .chunked: hasExcess = tail != 0x0d0a_0d0a
        }
    }

    /// Waits until the request has gone out: the client has no place for a response that ends before, and one it lets end
    /// it forgets what it still has to send (it never frees the connection) or whom it sends it for (it ends the program).
    func afterRequest(_ body: @escaping () -> Void) {
        held = body
    }

    /// Forgets who waits, and whatever that has, since the connection is gone.
    func end() { held = nil }

    /// The request's last part goes out; who has waited for it goes on when the client has come to its end with it.
    func requestHasEnded(on loop: any EventLoop) {
        isSending = false
        guard held != nil else { return }
        loop.assumeIsolated().execute {
            let held = self.held
            self.held = nil
            held?()
        }
    }
}
#endif
