import CCurl
import HTTPRecovery

// Answers that came while libcurl was sending, and that it did not come to read.
//
// A server may answer before it has read the request's body, and close the connection (RFC 9112, section 9.6). The next
// write fails then, which is the end to libcurl although the answer lies in the socket. It is taken out before the socket
// is closed, and given to libcurl once more, from a connection that holds nothing else: one parser reads all answers. Over
// TLS the connection's own session reads it, before libcurl frees that. Not over HTTP/2, where libcurl reads first.
extension EventLoop {
    /// Keeps what has come on a socket that libcurl is about to close, for the transfer that goes out on it.
    ///
    /// Not where TLS is spoken, below which anybody on the way can write.
    func saveUnread(on socket: Int32) {
        if isShuttingDown || running.items.isEmpty || configuration.proxy.isHTTPS { return }
        let bytes = SavedAnswer.unread(on: socket)
        guard bytes.starts(with: "HTTP/1.".utf8) else { return }
        // What libcurl has wanted nothing of yet is no idle connection.
        let isNew = usesUnixSockets && poller.isNew(socket)
        let senders = running.items.filter { transfer in
            !transfer.request.isTLS && transfer.canSaveAnswer && (transfer.socket.map { $0 == socket } ?? isNew)
        }
        // Of two that may have it neither is known.
        if senders.count == 1 { senders.first?.unread = bytes }
    }

    /// Looks at a connection over TLS that libcurl may be about to close.
    func looksAtEnd(of transfer: Transfer, _ easy: EasyHandle) {
        guard let openSSL = OpenSSL.loaded, let session = unsafe easy.session else { return }
        if transfer.facts.sawHead, easy.endsWithConnection {
            // libcurl 7.88 takes any end for that of the body, and so the cut of somebody on the way.
            transfer.facts.isEndUnannounced = unsafe !openSSL.hasReceivedShutdown(session)
        }
        guard transfer.canSaveAnswer, transfer.unread == nil, SavedAnswer.isOver(easy.socket),
            unsafe !openSSL.speaksHTTP2(session)
        else { return }
        let bytes = unsafe openSSL.unread(session, on: easy.socket, atMost: SavedAnswer.longest)
        guard bytes.starts(with: "HTTP/1.".utf8) else { return }
        transfer.unread = bytes
        transfer.isUnreadEndAnnounced = unsafe openSSL.hasReceivedShutdown(session)
    }

    /// Goes on with the answer that a failed transfer left unread, if there is one.
    ///
    /// - Parameter error: How the transfer ends if the saved bytes are no answer.
    func readSaved(_ transfer: Transfer, after error: TransportError) -> Bool {
        guard let bytes = transfer.unread, transfer.facts.ownReason == nil, transfer.isBetweenHeads,
            !isShuttingDown, let origin = transfer.origin, let answer = SavedAnswer(bytes),
            let shard = shardWithRoom(isShared: false), let easy = EasyHandle(loop: self)
        else { return false }
        transfer.unread = nil
        transfer.sendFailure = error
        // What is known of the request stays; why it failed is for the answer to say.
        var facts = TransferFacts(code: 0)
        facts.wireAttempts = transfer.facts.wireAttempts
        transfer.facts = facts
        transfer.isSendPaused = false
        easy.begin(transfer, from: answer)
        guard add(transfer, easy, to: shard, origin) else { return false }
        // Its place was given up before, and with that perhaps the queue.
        if origin !== lastOrigin { origins[origin.key] = origin }
        if transfer.deadline != Monotonic.never { deadlines.insert(transfer) }
        return true
    }
}

extension Transfer {
    /// Whether it sends a body where an answer can be saved, as far as that is known before there is a connection.
    var mayBeAnsweredEarly: Bool {
        let configuration = loop.configuration
        guard request.sendsBody, configuration.httpVersion != .http3 else { return false }
        // Within the TLS of a proxy the session does not read from the socket.
        return request.isTLS ? !configuration.proxy.isHTTPS : !configuration.speaksHTTP2WithPriorKnowledge
    }

    fileprivate var isBetweenHeads: Bool { withReception { $0.head.isBetweenHeads } }

    fileprivate var canSaveAnswer: Bool {
        facts.wireAttempts > 0 && sendFailure == nil && isBetweenHeads && mayBeAnsweredEarly
    }
}
