#if AsyncHTTPClient
import NIOCore
import NIOHTTP2

/// Stands behind the HTTP/2 parser of a connection, and closes one on which the server has broken HTTP/2's rules.
///
/// The parser says goodbye (`GOAWAY`) and leaves the rest to whoever is behind it, and the client does nothing: the streams
/// would wait until their time is over.
final class ViolationWatch: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        // One stream's error leaves the others alone.
        if !(error is NIOHTTP2Errors.StreamError) { context.close(promise: nil) }
    }
}
#endif
