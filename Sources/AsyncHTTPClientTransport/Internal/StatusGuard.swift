#if AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Stands before the codec of an HTTP/2 stream, which would end the program for a `:status` that is no number, or a negative one.
final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers(let payload) = unwrapInboundIn(data), let status = payload.headers.first(name: ":status"),
            !Self.isLegal(status, isLast: payload.endStream)
        {
            return context.fireErrorCaught(TransportError.noStatus)
        }
        context.fireChannelRead(data)
    }

    /// Three digits (RFC 9110, section 15); an interim response is never the last that comes (RFC 9113, section 8.1).
    private static func isLegal(_ status: String, isLast: Bool) -> Bool {
        guard status.utf8.count == 3, status.utf8.allSatisfy(\.isDigit), let first = status.utf8.first else {
            return false
        }
        return first > UInt8(ascii: "1") || first == UInt8(ascii: "1") && !isLast
    }
}
#endif
