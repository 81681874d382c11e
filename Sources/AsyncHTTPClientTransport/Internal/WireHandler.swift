#if AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHTTP1

/// Stands next to the encoder: no request leaves but through here, and no response gets in.
///
/// Which transfer a head belongs to says a field of its own, which ends here.
final class WireHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The field that carries a transfer's number from ``Transfer`` to here.
    static let mark = "X-HTTP-Recovery-Transfer"

    private let watched: WatchedConnection
    /// The place of the client's decompressor, which a response to a request that asked for no coding passes by.
    var decompressor: ChannelHandlerContext?
    /// Whether the parts of the present request are thrown away: it must not be sent.
    private var isRefusing = false
    /// Whether the parts of the present response are not for the decompressor, which takes no body for a broken one.
    private var passesDecompressor = true
    /// Whether the request's head has been written and has not been flushed.
    private var isHeadPending = false
    /// The bytes of header sections that came as parts, of HTTP/2.
    private var headerBytes = 0

    init(_ watched: WatchedConnection) {
        self.watched = watched
    }

    // MARK: The request

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            let number = head.headers[Self.mark].last.flatMap { UInt64($0) }
            let transfer = number.flatMap(watched.pool.transfer)
            do throws(TransportError) {
                // A transfer that has ended, cancelled for example, leaves nothing behind to send.
                guard let transfer else { throw TransportError.gone }
                try transfer.willWrite()
                isRefusing = false
                headerBytes = 0
                transfer.meter?.begin(on: context.channel, isReused: watched.isReused)
                watched.begin(transfer)
                isHeadPending = true
                context.write(wrapOutboundOut(.head(transfer.request.wireHead(from: head))), promise: promise)
            } catch {
                isRefusing = true
                promise?.fail(error)
                context.fireErrorCaught(error)
            }
        case .body, .end:
            if isRefusing {
                promise?.fail(TransportError.gone)
            } else {
                let part = unwrapOutboundIn(data)
                if case .body(.byteBuffer(let bytes)) = part {
                    watched.transfer?.meter?.noteSent(bytes.readableBytes)
                }
                context.write(data, promise: promise)
                if case .end = part { watched.requestHasEnded(on: context.eventLoop) }
            }
        }
    }

    /// What a head that does not fit at once makes of the channel is told when it is flushed: the client would end the program if
    /// it heard within its own writing that it can send, before it has noted that the head is out.
    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard isHeadPending else { return }
        isHeadPending = false
        if !context.channel.isWritable { channelWritabilityChanged(context: context) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isHeadPending { return }
        let isWritable = context.channel.isWritable
        if !isWritable { watched.transfer?.pauseUpload() }
        // The client would end the program if it were told that it can send now, when its request body has not begun
        // and the response has (RequestBag, "response can not be received before request").
        if isWritable, let transfer = watched.transfer, transfer.facts.sawHead, !transfer.hasUploadBegun { return }
        context.fireChannelWritabilityChanged()
        if isWritable { watched.transfer?.resumeUpload() }
    }

    // MARK: The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let transfer = watched.transfer
        let part = unwrapInboundIn(data)
        if let meter = transfer?.meter {
            meter.noteAnswer()
            if case .body(let bytes) = part { meter.noteReceived(bytes.readableBytes) }
        }
        var data = data
        if case .head(var head) = part, let transfer {
            // The client would take it for an interim response, and end the program with the response.
            guard head.status.code >= 100 else { return context.fireErrorCaught(TransportError.noStatus) }
            let isFinal = head.status.code >= 200
            if head.status == .switchingProtocols {
                transfer.facts.sawStatus = true
                return context.fireErrorCaught(TransportError.switchedProtocol)
            }
            headerBytes += head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
            if isFinal { transfer.facts.sawStatus = true }
            guard headerBytes <= watched.pool.configuration.maxHeaderBytes else {
                context.fireErrorCaught(TransportError.headersTooLarge)
                return
            }
            let hasNoBody = transfer.request.method == .HEAD || head.hasNoBody
            if isFinal {
                transfer.facts.sawHead = true
                guard hasNoBody || head.dropsIdentity() else {
                    return context.fireErrorCaught(TransportError.unknownCoding)
                }
                data = wrapInboundOut(.head(head))
                watched.expectBody(hasNoBody ? ["Content-Length": "0"] : head.headers)
            }
            passesDecompressor = !transfer.request.decodes || hasNoBody
        }
        if case .end = part { watched.responseHasEnded() }
        if let decompressor, passesDecompressor {
            decompressor.fireChannelRead(data)
        } else {
            context.fireChannelRead(data)
        }
    }
}

extension EncodedRequest {
    /// The head as it goes out: the client's own, without the mark, and with what its URL type would have rewritten.
    fileprivate func wireHead(from head: HTTPRequestHead) -> HTTPRequestHead {
        var head = head
        head.uri = target
        head.headers.remove(name: WireHandler.mark)
        // The decompressor names its codings wherever none are named.
        if !decodes, !namesCodings { head.headers.remove(name: "Accept-Encoding") }
        // The client says of most methods without a body that it has no bytes.
        if case .none = body { head.headers.remove(name: "Content-Length") }
        return head
    }
}

extension HTTPResponseHead {
    /// Takes out a transfer coding that is none; false if there is any but `chunked`, which nobody has asked for (RFC 9112,
    /// section 7.4), or if that is not the last.
    ///
    /// The client undoes none, and takes the end of a connection for that of a body with any, also if TLS has not announced it.
    fileprivate mutating func dropsIdentity() -> Bool {
        let codings = headers[canonicalForm: "Transfer-Encoding"]
            .map { $0.utf8.split(separator: UInt8(ascii: ";")).first.map { String(Substring($0)).lowercased() } ?? "" }
            .filter { !$0.isEmpty }
        if codings.allSatisfy({ $0 == "identity" }) {
            headers.remove(name: "Transfer-Encoding")
            return true
        }
        return codings.last == "chunked" && codings.allSatisfy { $0 == "chunked" || $0 == "identity" }
    }

    fileprivate var hasNoBody: Bool {
        status.code < 200 || status == .noContent || status == .notModified
            || headers.first(name: "Content-Length") == "0" && !headers.contains(name: "Transfer-Encoding")
    }
}

extension TransportError {
    /// What was to be sent has been given up.
    static let gone = TransportError(.other, .neverSent, message: "the attempt had ended before it was sent")
    static let unknownCoding = TransportError(
        .notHTTP,
        .answered,
        message: "the response's body has a transfer coding that nobody asked for"
    )
    static let noStatus = TransportError(.notHTTP, .unknown, message: "the status cannot be one")
    /// RFC 9110, section 15.2.2: nobody has asked for another protocol.
    static let switchedProtocol = TransportError(
        .notHTTP,
        .answered,
        message: "the server has switched to a protocol that nobody asked for"
    )
    static let headersTooLarge = TransportError(
        .headersTooLarge,
        .answered,
        message: "the response's header section is larger than the transport accepts"
    )
}
#endif
