#if AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHTTP1

/// Stands behind the decompressor: bounds what one reading of the socket expands to, and knows when a response is whole.
final class BodyGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The most bytes of a body that a single reading of the socket, some 64 KiB, may become: beyond lies no text, but a
    /// bomb.
    static let maxBytesAtOnce = 32 << 20

    private let watched: WatchedConnection
    private var bytesAtOnce = 0
    private var isTooLarge = false

    init(_ watched: WatchedConnection) {
        self.watched = watched
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isTooLarge { return }
        switch unwrapInboundIn(data) {
        case .head:
            bytesAtOnce = 0
            context.fireChannelRead(data)
        case .body(let bytes):
            bytesAtOnce += bytes.readableBytes
            guard bytesAtOnce <= Self.maxBytesAtOnce else {
                isTooLarge = true
                return context.fireErrorCaught(
                    TransportError(
                        .badContentEncoding,
                        .answered,
                        message: "the response body expands beyond what the transport accepts at once"
                    )
                )
            }
            watched.transfer?.notePassed(bytes.readableBytes)
            context.fireChannelRead(data)
        case .end(let trailers):
            let transfer = watched.transfer
            watched.transfer = nil
            transfer?.noteEnd(trailers)
            context.fireChannelRead(data)
            transfer?.endEarlyIfWhole()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        bytesAtOnce = 0
        context.fireChannelReadComplete()
    }
}
#endif
