#if AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Stands before the codec of an HTTP/2 stream, which would end the program for a `:status` without a digit.
final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers(let payload) = unwrapInboundIn(data), payload.headers.first(name: ":status")?.isEmpty == true {
            return context.fireErrorCaught(TransportError.noStatus)
        }
        context.fireChannelRead(data)
    }
}
#endif
