import CCurl

// What libcurl's callbacks cannot do by themselves; on the loop's thread, within a call to libcurl.
extension EasyHandle {
    /// Takes bytes of the body, or makes libcurl keep them; returns what its callback does.
    func received(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return refuse() }
        let limit = loop.configuration.maxBufferedBytes
        // What libcurl has decompressed and kept may be much, and to take a part of it would make it copy the rest each time.
        let isKept = loop.isUnpausing && isDecompressing
        if !isKept, transfer.mustPauseReceiving(above: limit) {
            transfer.isReceivePaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        let count = unsafe receiving.pointee.reception.bodyByteCount
        if count > loop.configuration.maxDecompressedBytes, !transfer.mayExpand(self, to: count) { return refuse() }
        unsafe transfer.receive(bytes, upTo: limit)
        loop.noteNews(of: transfer)
        return bytes.count
    }

    /// Ends the transfer from within a callback, which returns this; nothing of the connection's other transfers ends.
    func refuse() -> Int {
        loop.giveUpStream(of: self)
        return 0
    }

    /// Takes note that the head of the response is whole; false if nobody waits for it any more.
    func receivedHead() -> Bool {
        guard let transfer else { return false }
        transfer.noteHead()
        if endsWithConnection {
            watch()
            if readsSavedAnswer { transfer.facts.isEndUnannounced = !transfer.isUnreadEndAnnounced }
        }
        loop.noteNews(of: transfer)
        return true
    }
}
