import CCurl
import HTTPRecovery

// Which origins share connections, HTTP/2's and later ones, and what that means for who may start.
//
// The first transfer to an origin finds out what the server speaks; the others wait here for that. Within libcurl they
// would wait too, but without their deadlines and whether or not there is anything to share.
extension EventLoop {
    /// How many origins are remembered.
    private static let memory = 4096

    /// An origin with what is known of it from before.
    func makeOrigin(of request: EncodedRequest) -> OriginQueue {
        let isAskedFor = request.origin.isTLS && configuration.httpVersion.mayUseHTTP2
        return OriginQueue(
            key: request.origin,
            isSharingAskedFor: isAskedFor,
            isShared: isAskedFor ? sharing[request.origin] : false
        )
    }

    /// Whether the transfer is to share a connection, or to wait for one.
    ///
    /// Once finding out has failed, each transfer tries by itself.
    func mayShare(_ transfer: Transfer, _ origin: OriginQueue) -> Bool {
        !transfer.isOnNewConnection && (origin.isShared ?? (origin.probes == 1))
    }

    /// Whether the transfer uses what was made to be shared, although its server knows nothing of that.
    ///
    /// The first connection is there, and would idle otherwise.
    func usesSharedShard(_ transfer: Transfer, _ origin: OriginQueue) -> Bool {
        origin.isSharingAskedFor && origin.active == 0 && !transfer.isOnNewConnection
    }

    /// A transfer is about to be written on a connection; called within libcurl.
    func goesOut(_ transfer: Transfer) {
        if let isShared = transfer.evidence.negotiatesHTTP2 { learn(isShared, transfer.origin) }
    }

    /// A transfer has ended, and perhaps told what its log did not.
    func noteEnd(of transfer: Transfer, _ easy: EasyHandle) {
        guard let origin = transfer.origin, origin.isShared == nil else { return }
        var version = 0
        if transfer.facts.sawStatus {
            unsafe ccurl_get_long(easy.handle, CURLINFO_HTTP_VERSION, &version)
            learn(version >= Int(CURL_HTTP_VERSION_2_0), origin)
        } else if transfer.facts.code != 0 {
            origin.probes = min(origin.probes.saturatingAdding(origin.probes), configuration.maxConnectionsPerOrigin)
        }
    }

    private func learn(_ isShared: Bool, _ origin: OriginQueue?) {
        guard let origin, origin.isShared != isShared else { return }
        origin.isShared = isShared
        if sharing.count >= Self.memory { sharing.removeAll() }
        sharing[origin.key] = isShared
        // Within a callback of libcurl's nothing can be started.
        justKnown.append(origin)
    }

    /// Whether a transfer that libcurl calls failed has brought the whole answer: all of Content-Length is there, and what became
    /// of the rest of the request is no matter.
    ///
    /// Over HTTP/1.1 that is an answer below 300 that comes before the request's body is out: libcurl goes on to send it, and
    /// fails when the server takes no more. Over HTTP/2 an early answer makes libcurl reset the stream, of its own accord and
    /// rightly. If another transfer's turn on the connection sends that reset, libcurl takes it for the stream's failure
    /// (seen in 8.14 and 8.21). Without a length nothing is missing then if it says itself that the reset was its own, which
    /// it does from 8.19 on, and found no fault with what came.
    func isAnswerWhole(_ transfer: Transfer, _ easy: EasyHandle, code: Int) -> Bool {
        // What waits for the reader in libcurl would be lost.
        guard transfer.facts.sawHead, transfer.facts.ownReason == nil, !transfer.isReceivePaused else { return false }
        let isStream = code == Int(CURLE_HTTP2_STREAM.rawValue)
        let others = [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_OPERATION_TIMEDOUT, CURLE_PARTIAL_FILE]
        guard isStream || others.contains(where: { code == Int($0.rawValue) }) else { return false }
        if !isStream, easy.hasNoBody || transfer.earlyEnd == .ofAnswer { return true }
        if let length = easy.statedLength {
            var count: curl_off_t = 0
            unsafe ccurl_get_offset(easy.handle, CURLINFO_SIZE_DOWNLOAD_T, &count)
            return length == count
        }
        // Nothing but the end was left to come.
        if transfer.earlyEnd == .ofConnection, easy.endsWithConnection { return !transfer.facts.isEndUnannounced }
        return isStream && !transfer.evidence.hasInvalidFrame
            && easy.detail.hasSuffix(" reset by curl (error 0x5 STREAM_CLOSED)")
    }

    /// Starts those who waited to know.
    func admitToKnown() {
        while let origin = justKnown.popLast() {
            if origin === lastOrigin || origin === origins[origin.key] { fillPlaces(of: origin) }
        }
    }
}
