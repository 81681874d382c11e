#if AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHTTP1

/// Stands behind the decompressor: bounds what one reading of the socket expands to, knows when a response is whole, and
/// keeps its end back while the request has not gone out.
final class BodyGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The most bytes of a body that a single reading of the socket, some 64 KiB, may become: beyond lies no text, but a
    /// bomb.
    static let maxBytesAtOnce = 32 << 20

    private let watched: WatchedConnection
    private var bytesAtOnce = 0
    private var isTooLarge = false
    /// Whether the client sends no more of the request for this response.
    private var isRefusal = false

    init(_ watched: WatchedConnection) {
        self.watched = watched
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isTooLarge { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            bytesAtOnce = 0
            isRefusal = head.status.code >= 300
            context.fireChannelRead(data)
        case .body(let bytes):
            bytesAtOnce += bytes.readableBytes
            guard bytesAtOnce <= Self.maxBytesAtOnce else {
                isTooLarge = true
                return context.fireErrorCaught(
                    TransportError(
                        .bodyTooLarge,
                        .answered,
                        message: "the response body expands to more than the transport accepts at once"
                    )
                )
            }
            watched.transfer?.notePassed(bytes.readableBytes)
            context.fireChannelRead(data)
        case .end(let trailers):
            watched.transfer?.noteEnd(trailers)
            guard watched.isSending, !isRefusal else { return pass(data, context) }
            watched.afterRequest {
                self.pass(data, context)
                context.fireChannelReadComplete()
            }
            watched.transfer?.endEarlyIfWhole()
        }
    }

    private func pass(_ end: NIOAny, _ context: ChannelHandlerContext) {
        let transfer = watched.transfer
        watched.transfer = nil
        context.fireChannelRead(end)
        transfer?.endEarlyIfWhole()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        watched.end()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        bytesAtOnce = 0
        context.fireChannelReadComplete()
    }
}
#endif
