#if AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHTTP2

/// Stands before the HTTP/2 parser of a connection, and notes which streams the server says it has not processed.
///
/// A stream is refused by its own RST_STREAM, or by a GOAWAY whose last stream is an earlier one (RFC 9113, sections 8.7
/// and 6.8). The parser tells of the latter as of a stream that was cancelled, so it is read from the frames.
final class RefusalWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The streams that are open.
    private var streams: [ObjectIdentifier: (channel: any Channel, watched: WatchedConnection)] = [:]
    private var frames = RefusalScanner()
    /// Whether the server has said that it takes no more streams.
    private var hasGoneAway = false
    /// Whether the connection has had a stream.
    private var isUsed = false

    /// Puts one into the pipeline of a connection, and what closes it.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let parser = try pipeline.handler(type: NIOHTTP2Handler.self)
        try pipeline.addHandler(RefusalWatch(), position: .before(parser))
        try pipeline.addHandler(ViolationWatch(), position: .after(parser))
    }

    /// Watches a stream until it is closed.
    func watch(_ channel: any Channel, _ watched: WatchedConnection) {
        let id = ObjectIdentifier(channel)
        streams[id] = (channel, watched)
        watched.isReused = isUsed
        isUsed = true
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.streams[id] = nil }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for refusal in frames.read(unwrapInboundIn(data).readableBytesView) {
            if case .streamsAfter = refusal { hasGoneAway = true }
            for (channel, watched) in streams.values {
                guard let number = Self.number(of: channel), refusal.covers(number) else { continue }
                watched.transfer?.facts.isRefused = true
            }
        }
        context.fireChannelRead(data)
        guard hasGoneAway, streams.isEmpty else { return }
        // The client leaves a connection open that had no streams when it was told. It may be about to close it by itself.
        let channel = context.channel
        context.eventLoop.assumeIsolated().execute {
            if self.streams.isEmpty { channel.close(promise: nil) }
        }
    }

    private static func number(of channel: any Channel) -> UInt32? {
        // A stream that has sent nothing has no number.
        let number: HTTP2StreamID? = try? channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
        return number.flatMap { UInt32(exactly: Int($0)) }
    }
}

/// Finds refusals among the frames of HTTP/2; of all other frames it looks at the length alone.
struct RefusalScanner {
    /// What a server says it has not processed.
    enum Refusal: Sendable, Hashable {
        case stream(UInt32)
        case streamsAfter(UInt32)

        func covers(_ stream: UInt32) -> Bool {
            switch self {
            case .stream(let refused): stream == refused
            case .streamsAfter(let last): stream > last
            }
        }
    }

    /// The beginning of the present frame: its nine bytes, then the four of its payload that say something.
    private var beginning: [UInt8] = []
    /// The bytes of the payload that are still to come.
    private var rest = 0

    /// Looks at the next bytes.
    mutating func read(_ bytes: some Collection<UInt8>) -> [Refusal] {
        var found: [Refusal] = []
        var bytes = bytes[...]
        while !bytes.isEmpty {
            if beginning.count < 9 {
                beginning.append(bytes.removeFirst())
                guard beginning.count == 9 else { continue }
                rest = Int(number(at: 0) >> 8)
                if rest == 0 { beginning.removeAll(keepingCapacity: true) }
                continue
            }
            // RST_STREAM and GOAWAY.
            let isTelling = beginning[3] == 3 || beginning[3] == 7
            if isTelling, beginning.count < 13 {
                beginning.append(bytes.removeFirst())
                rest -= 1
                if beginning.count == 13, let refusal { found.append(refusal) }
            } else {
                let count = min(rest, bytes.count)
                bytes = bytes.dropFirst(count)
                rest -= count
            }
            if rest == 0 { beginning.removeAll(keepingCapacity: true) }
        }
        return found
    }

    private var refusal: Refusal? {
        let (stream, value) = (number(at: 5) & 0x7fff_ffff, number(at: 9))
        // What has not the form that it must have proves nothing (RFC 9113, sections 6.4 and 6.8).
        if beginning[3] == 7 { return stream == 0 && rest >= 4 ? .streamsAfter(value & 0x7fff_ffff) : nil }
        // REFUSED_STREAM
        return value == 7 && rest == 0 ? .stream(stream) : nil
    }

    private func number(at index: Int) -> UInt32 {
        beginning[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
#endif
