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

    /// Lets libcurl look at those that their servers have ended: it stops what it would send on a connection that is to be closed
    /// with the answer.
    func lookAtAbandonedUploads() {
        for transfer in abandonedUploads where transfer.waitsForSourceAlone {
            transfer.isSendPaused = false
            unpause(transfer)
        }
    }

    /// Ends those that wait for their sources nevertheless, on connections on which nothing more comes.
    ///
    /// To libcurl they are not over, and no event would come for them until the source has more.
    func endAbandonedUploads() {
        for transfer in abandonedUploads where transfer.waitsForSourceAlone {
            guard let easy = transfer.easy, let shard = transfer.shard else { continue }
            complete(transfer, easy, shard, code: Int(CURLE_PARTIAL_FILE.rawValue))
        }
        abandonedUploads.removeAll()
    }
}

extension Transfer {
    /// Whether it has its connection of HTTP/1 to itself, and nothing is to be done but to wait for the request's body.
    var waitsForSourceAlone: Bool { isSendPaused && !isReceivePaused && easy?.speaksHTTP2 == false }
}
