#if AsyncHTTPClient
import NIOCore
import NIOHTTP2

/// Stands behind the HTTP/2 parser of a connection, and notes which streams the server has not processed.
///
/// A stream is refused by its own RST_STREAM, or by a GOAWAY whose last stream is an earlier one (RFC 9113, section 6.8).
/// Of the latter the stream itself is not told: the client closes the connection when it has no other stream.
final class RefusalWatch: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// The streams that are open.
    private var streams: [ObjectIdentifier: (channel: any Channel, watched: WatchedConnection)] = [:]

    /// Puts one into the pipeline of a connection.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let parser = try pipeline.handler(type: NIOHTTP2Handler.self)
        try pipeline.addHandler(RefusalWatch(), position: .after(parser))
    }

    /// Watches a stream until it is closed.
    func watch(_ channel: any Channel, _ watched: WatchedConnection) {
        let id = ObjectIdentifier(channel)
        streams[id] = (channel, watched)
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.streams[id] = nil }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Of its own accord the client's side refuses nothing but pushed streams, which have no transfer here.
        if let closed = event as? StreamClosedEvent, closed.reason == .refusedStream {
            for (channel, watched) in streams.values where Self.number(of: channel) == closed.streamID {
                watched.transfer?.facts.isRefused = true
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private static func number(of channel: any Channel) -> HTTP2StreamID? {
        // A stream that has sent nothing has no number.
        try? channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
    }
}
#endif
