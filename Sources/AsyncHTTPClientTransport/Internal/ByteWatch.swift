#if AsyncHTTPClient
import HTTPRecovery
import NIOCore

/// Stands before the parser of a connection that speaks HTTP/1.1, and notes whether a status line has come.
final class ByteWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let watched: WatchedConnection
    private var isTooLarge = false

    init(_ watched: WatchedConnection) {
        self.watched = watched
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Nothing more is read of what is too large; the connection is being closed.
        if isTooLarge { return }
        let bytes = unwrapInboundIn(data).readableBytesView
        // What nobody has asked for; but an empty line is forgiven (RFC 9112, section 2.2).
        if watched.transfer == nil, watched.isReused, !bytes.allSatisfy({ $0 == 0x0d || $0 == 0x0a }) {
            return context.close(promise: nil)
        }
        watched.transfer?.meter?.noteAnswer()
        watched.noteReceived(bytes)
        if watched.scanner.isActive {
            watched.scanner.read(bytes)
            if watched.scanner.sawStatus { watched.transfer?.facts.sawStatus = true }
            if watched.scanner.count > watched.pool.configuration.maxHeaderBytes {
                isTooLarge = true
                return context.fireErrorCaught(TransportError.headersTooLarge)
            }
        }
        context.fireChannelRead(data)
        if watched.hasExcess { context.close(promise: nil) }
    }
}
#endif
