import CCurl

// Requests' bodies that are waited for, when the answer has come or will not come any more.
extension EventLoop {
    /// Lets libcurl ask once more those for bytes whose answer is coming.
    ///
    /// An early answer ends the upload, but a transfer whose sending has paused is not over to libcurl 7.88, even when all
    /// has come. If the upload is wanted nevertheless, it pauses again.
    func releaseUploads() {
        for transfer in news where transfer.isSendPaused && transfer.facts.sawHead {
            transfer.isSendPaused = false
            unpause(transfer)
        }
    }

    /// libcurl has stopped receiving for a transfer whose upload has paused; called within libcurl.
    ///
    /// Either the answer is over, or the connection, which is not always known.
    func noteEarlyEnd(of transfer: Transfer, on socket: Int32) {
        poller.awaitEnd(on: socket)
        guard transfer.earlyEnd == .none else { return }
        transfer.noteHead()
        if transfer.facts.sawHead, !Poller.hasEnded(socket), isOpenAsTLSHasIt(transfer) {
            transfer.earlyEnd = .ofAnswer
        } else {
            transfer.earlyEnd = .ofConnection
        }
        lonelyUploads.append(transfer)
        // What is not whole by now never will be.
        if !transfer.facts.sawHead { abandonedUploads.append(transfer) }
    }

    /// Whether the server has not said below the socket that it sends nothing more, as far as that can be known.
    private func isOpenAsTLSHasIt(_ transfer: Transfer) -> Bool {
        guard transfer.request.isTLS || configuration.proxy.isHTTPS else { return true }
        guard !configuration.proxy.isHTTPS, let openSSL = OpenSSL.loaded, let session = unsafe transfer.easy?.session
        else { return false }
        return unsafe !openSSL.hasReceivedShutdown(session)
    }

    /// Lets libcurl look once more at those whose answers or connections are over: it stops what it would send on a connection
    /// that is to be closed with the answer.
    func lookAtLonelyUploads() {
        if lonelyUploads.isEmpty && abandonedUploads.isEmpty { return }
        for transfer in lonelyUploads + abandonedUploads where transfer.waitsForSourceAlone {
            transfer.isSendPaused = false
            unpause(transfer)
        }
        lonelyUploads.removeAll()
    }

    /// Ends those that wait for their sources nevertheless, though their servers have closed.
    ///
    /// To libcurl they are not over, and no event would come for them until the source has more. A server that has closed its half
    /// alone wants nothing more either, and waits for the client to close (RFC 9112, section 9.6).
    func endAbandonedUploads() {
        if abandonedUploads.isEmpty { return }
        for transfer in abandonedUploads where transfer.waitsForSourceAlone {
            guard let easy = transfer.easy, let shard = transfer.shard else { continue }
            complete(transfer, easy, shard, code: Int(CURLE_PARTIAL_FILE.rawValue))
        }
        abandonedUploads.removeAll()
    }
}

extension Transfer {
    /// What has ended for a request before its body was out.
    enum EarlyEnd {
        case none
        /// The answer, by its own framing.
        case ofAnswer
        /// The connection, or either.
        case ofConnection
    }

    /// Whether it has its connection of HTTP/1 to itself, and nothing is to be done but to wait for the request's body.
    var waitsForSourceAlone: Bool { isSendPaused && !isReceivePaused && easy?.speaksHTTP2 == false }
}
