import CCurl
import HTTPRecovery
import Synchronization

// The life of a transfer on the loop's thread.
extension EventLoop {
    func noteNews(of transfer: Transfer) {
        if transfer.hasNews { return }
        transfer.hasNews = true
        news.append(transfer)
    }

    func opened(_ socket: Int32) {
        poller.opened(socket)
        ledger.opened(socket)
    }

    func closed(_ socket: Int32) {
        saveUnread(on: socket)
        forget(socket)
    }

    func forget(_ socket: Int32) {
        poller.closed(socket)
        ledger.closed(socket)
    }

    func httpVersionOption(isTLS: Bool) -> Int {
        if !isTLS, configuration.speaksHTTP2WithPriorKnowledge {
            return Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        }
        return configuration.httpVersion.option(isTLS: isTLS)
    }

    /// Where in its text a request has the path, if libcurl has to be told to leave it as it is.
    ///
    /// Where a proxy may be asked for the URL, what is right is known to libcurl alone.
    func requestTarget(of request: EncodedRequest) -> Int? {
        let asksServer = request.isTLS || configuration.unixSocketPath != nil || configuration.proxy.takesNoURLs
        return asksServer ? request.changeablePath : nil
    }

    // MARK: Begin

    func admit(_ transfer: Transfer) {
        if transfer.shared.withLock({ $0.isCancelled }) {
            transfer.finish(.shutDown, &resumptions)
            return
        }
        let origin = queue(of: transfer.request)
        transfer.origin = origin
        origin.enqueue(transfer)
        if transfer.deadline != Monotonic.never { deadlines.insert(transfer) }
        fillPlaces(of: origin)
    }

    private func queue(of request: EncodedRequest) -> OriginQueue {
        let key = request.origin
        if let lastOrigin {
            if lastOrigin.key == key { return lastOrigin }
            if !lastOrigin.isIdle { origins[lastOrigin.key] = lastOrigin }
        }
        let origin = origins.removeValue(forKey: key) ?? makeOrigin(of: request)
        lastOrigin = origin
        return origin
    }

    /// Starts those who wait for the origin, as far as it has free places, and forgets an origin that nobody uses.
    ///
    /// It is the only way out of the queue. Who cannot be started leaves the place to the next.
    func fillPlaces(of origin: OriginQueue) {
        if isShuttingDown { return }
        while origin.active < origin.places(of: configuration.maxConnectionsPerOrigin), let next = origin.next() {
            start(next, origin)
        }
        if origin.isIdle, origin === origins[origin.key] { origins[origin.key] = nil }
    }

    /// Gives the transfer to libcurl, or ends it.
    private func start(_ transfer: Transfer, _ origin: OriginQueue) {
        transfer.isShared = mayShare(transfer, origin)
        if let limit = transfer.sendLimit, limit.hasPassed { return giveUp(transfer, .tooLate) }
        if transfer.deadline != Monotonic.never, transfer.deadline <= Monotonic.now() {
            return giveUp(transfer, .queueTimeout)
        }
        guard let shard = shardWithRoom(isShared: transfer.isShared || usesSharedShard(transfer, origin)),
            let easy = pool.popLast() ?? EasyHandle(loop: self)
        else {
            return giveUp(transfer, .outOfHandles)
        }
        transfer.meter?.begin()
        easy.begin(transfer)
        if !add(transfer, easy, to: shard, origin) { giveUp(transfer, .outOfHandles) }
    }

    /// Ends a transfer that could not be started.
    private func giveUp(_ transfer: Transfer, _ error: TransportError) {
        deadlines.remove(transfer)
        transfer.finish(error, &resumptions)
    }

    /// Puts a handle that is ready for the transfer to work; one that libcurl does not accept is destroyed.
    func add(_ transfer: Transfer, _ easy: EasyHandle, to shard: Shard, _ origin: OriginQueue) -> Bool {
        guard unsafe curl_multi_add_handle(shard.multi, easy.handle) == CURLM_OK else {
            easy.destroy()
            return false
        }
        transfer.begin(on: easy, shard)
        shard.count += 1
        shard.closesAt = Monotonic.never
        origin.active += 1
        running.insert(transfer)
        return true
    }

    /// The lowest with room, so that few handles have all the connections.
    func shardWithRoom(isShared: Bool) -> Shard? {
        if let shard = shards.first(where: { $0.isShared == isShared && $0.count < $0.capacity }) { return shard }
        let stays = !shards.contains { $0.isShared == isShared }
        guard let shard = Shard(loop: self, isShared: isShared, stays: stays) else { return nil }
        shards.append(shard)
        return shard
    }

    /// Closes the connections of shards that nobody has used for long, which were made for a burst.
    ///
    /// libcurl closes one that is too old, or that its server has closed, when it looks for one, and there it never does.
    func closeIdleShards(_ now: UInt64) {
        guard shards.contains(where: { $0.closesAt <= now }) else { return }
        for shard in shards where shard.closesAt <= now { unsafe curl_multi_cleanup(shard.multi) }
        shards.removeAll { $0.closesAt <= now }
    }

    // MARK: End

    func readResults(of shard: Shard) {
        shard.isTouched = false
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(shard.multi, &left) {
            // The message is libcurl's and lives until the handle is removed; what is needed is copied first.
            guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle,
                let context = unsafe ccurl_get_private(handle)
            else { continue }
            let code = unsafe Int(ccurl_message_result(message).rawValue)
            let easy = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
            if let transfer = easy.transfer { complete(transfer, easy, shard, code: code) }
        }
    }

    func complete(_ transfer: Transfer, _ easy: EasyHandle, _ shard: Shard, code result: Int) {
        transfer.noteHead()
        let isWhole = result != 0 && isAnswerWhole(transfer, easy, code: result)
        let code = isWhole ? 0 : result
        transfer.facts.code = code
        if code != 0 {
            transfer.facts.detail = easy.detail
            transfer.facts.isRefusedByProxy = transfer.facts.wireAttempts == 0 && easy.isRefusedByProxy
        }
        // What is decompressed behind a pause has a bound of libcurl's own.
        if [27, 100].contains(code), transfer.facts.sawHead, !transfer.facts.hasLongTrailer, easy.isDecompressing {
            transfer.facts.ownReason = .expandsTooFar(limit: Transfer.longestPausedBody)
        }
        // A body that could not be rewound is a resend prevented too.
        if code == 65 { transfer.facts.isVetoed = true }
        transfer.facts.isRefused = transfer.evidence.isProven
        var error = Verdict.error(for: transfer.facts)
        // What was saved was no answer.
        if let failure = transfer.sendFailure, !transfer.facts.sawStatus { error = failure }
        // Before the handle carries another transfer.
        transfer.meter?.read(easy, transfer.facts, isOver: true)
        release(transfer, easy, shard, isReusable: result == 0)
        if let error, readSaved(transfer, after: error) { return }
        transfer.finish(error, &resumptions)
    }

    /// Ends a transfer whose time is over.
    ///
    /// libcurl 7.88 does so by itself, but not while a transfer waits for a connection that another one makes, nor if another
    /// of the transfer's timers has come less than a millisecond before: then it waits for ever. Nor does it free what it keeps
    /// for one that has paused on a connection that others use.
    func timeOut(_ transfer: Transfer) {
        guard let easy = transfer.easy, let shard = transfer.shard else { return end(transfer, with: .queueTimeout) }
        complete(transfer, easy, shard, code: Int(CURLE_OPERATION_TIMEDOUT.rawValue))
    }

    /// Ends a transfer that nobody waits for.
    func drop(_ transfer: Transfer) {
        deadlines.remove(transfer)
        end(transfer, with: .shutDown)
    }

    /// Ends a transfer before libcurl does.
    func end(_ transfer: Transfer, with error: TransportError) {
        if let easy = transfer.easy, let shard = transfer.shard {
            release(transfer, easy, shard, isReusable: false)
        }
        transfer.origin?.remove(transfer)
        transfer.finish(error, &resumptions)
    }

    private func release(_ transfer: Transfer, _ easy: EasyHandle, _ shard: Shard, isReusable: Bool) {
        if let socket = easy.unwatchedSocket { poller.stays(socket, isHTTP2: easy.speaksHTTP2) }
        if !isReusable { giveUpStream(of: easy) }
        if transfer.isReceivePaused { easy.discardPaused() }
        unsafe curl_multi_remove_handle(shard.multi, easy.handle)
        shard.count -= 1
        if shard.count == 0, !shard.stays { shard.closesAt = Monotonic.deadline(after: configuration.maxIdleTime) }
        running.remove(transfer)
        deadlines.remove(transfer)
        noteEnd(of: transfer, easy)
        transfer.takeReception()
        easy.end()
        if isReusable, !easy.readsSavedAnswer, pool.count < 512 {
            pool.append(easy)
        } else {
            easy.destroy()
        }
        guard let origin = transfer.origin else { return }
        origin.bodies.note(transfer.withReception { $0.bodyByteCount })
        origin.active -= 1
        fillPlaces(of: origin)
    }

    // MARK: Resets that libcurl keeps for itself

    /// Sees to it that a server hears of a transfer's end where libcurl would not tell it, and sends no more; before libcurl
    /// takes the connection from the transfer.
    func giveUpStream(of easy: EasyHandle) {
        guard mayUseHTTP2, !Libcurl.sendsResets else { return }
        if let socket = easy.transfer?.socket { unsentResets.insert(socket) }
        easy.closeConnection()
    }

    /// Has those look at their connection who share it with a transfer that was given up; libcurl then sends what it has.
    ///
    /// 7.88 does so only if something has come, or if one of them has something to send.
    func sendResets() {
        if unsentResets.isEmpty { return }
        let sockets = unsentResets
        // Others may be given up meanwhile.
        unsentResets = []
        for socket in sockets {
            guard let shard = poller.reader(of: socket) else { continue }
            var stillRunning: Int32 = 0
            _ = unsafe curl_multi_socket_action(shard.multi, socket, CURL_CSELECT_IN, &stillRunning)
            shard.isTouched = true
        }
    }

    func unpause(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        let mask = (transfer.isReceivePaused ? CURLPAUSE_RECV : 0) | (transfer.isSendPaused ? CURLPAUSE_SEND : 0)
        isUnpausing = true
        let result = unsafe curl_easy_pause(easy.handle, mask)
        isUnpausing = false
        guard let shard = transfer.shard else { return }
        shard.isTouched = true
        // A transfer without a connection has ended; libcurl's message about that is still to be read.
        if result == CURLE_OK || result == CURLE_BAD_FUNCTION_ARGUMENT { return }
        // What was kept did not pass; libcurl leaves it to its caller to end the transfer then.
        complete(transfer, easy, shard, code: Int(result.rawValue))
    }

    // MARK: HTTP/2 refusals

    func logged(_ line: RefusalEvidence.LogLine, by transfer: Transfer?) {
        switch line {
        case .failure: ledger.failures += 1
        case .invalidFrame:
            ledger.failures += 1
            transfer?.evidence.hasInvalidFrame = true
        case .sessionEnded:
            ledger.failures += 1
            // By itself libcurl, 8.14 for one, only fails what is on the connection once the server has closed it or said more.
            if let socket = transfer?.socket { ledger.endReceiving(socket) }
        case .stream(let id): transfer?.evidence.stream = id
        case .negotiated(let isHTTP2): transfer?.evidence.negotiatesHTTP2 = isHTTP2
        case .goAway(let lastStream):
            if let socket = transfer?.socket { noteGoAway(on: socket, lastStream: lastStream) }
        case .refused: transfer?.evidence.isProven = true
        case .retrying:
            // The socket is still open here, and the new connection has not begun.
            guard let transfer, transfer.evidence.stream != nil, RefusalEvidence.canExclude,
                let socket = transfer.socket
            else { return }
            if ledger.lastStream(of: socket) == nil, ledger.failures == transfer.evidence.failuresBefore,
                ledger.isAlive(socket)
            {
                transfer.evidence.isProven = true
            }
        case .other: break
        }
    }

    /// Streams past the last one that a GOAWAY names were not processed, and never will be.
    private func noteGoAway(on socket: Int32, lastStream: Int) {
        ledger.goAway(socket, lastStream: lastStream)
        for transfer in running.items where transfer.socket == socket {
            if let stream = transfer.evidence.stream, stream > lastStream { transfer.evidence.isProven = true }
        }
    }

    // MARK: The end of the loop

    /// Ends everything; runs last on the loop's thread.
    func tearDown() {
        for transfer in running.items {
            if let easy = transfer.easy, let shard = transfer.shard {
                release(transfer, easy, shard, isReusable: false)
            }
            transfer.noteHead()
            let certainty = Verdict.certainty(transfer.facts)
            transfer.finish(TransportError(.shutDown, certainty, message: "the transport was shut down"), &resumptions)
        }
        for origin in Array(origins.values) + (lastOrigin.map { [$0] } ?? []) {
            while let transfer = origin.next() {
                deadlines.remove(transfer)
                transfer.finish(.shutDown, &resumptions)
            }
        }
        origins = [:]
        lastOrigin = nil
        justKnown = []
        for easy in pool { easy.destroy() }
        pool = []
        for shard in shards { unsafe curl_multi_cleanup(shard.multi) }
        shards = []
        // The end of their connections was the loop's own work; each of them has the loop.
        lonelyUploads = []
        abandonedUploads = []
        let isFree = unsafe curl_share_cleanup(share) == CURLSHE_OK
        assert(isFree, "a handle that uses the share has been left behind")
        let (commands, jobs) = closeInbox()
        for command in commands {
            switch command {
            case .whenStopped(let continuation): waitingForStop.append(continuation)
            case .start(let transfer): transfer.finish(.shutDown, &resumptions)
            case .cancel(let transfer): transfer.abandon(&resumptions)
            case .resumeReceiving, .resumeSending, .shutDown, .standStill: break
            }
        }
        for job in jobs { unsafe job.runSynchronously(on: UnownedTaskExecutor(self)) }
        awaitWakers()
        poller.close()
        for continuation in waitingForStop { resumptions.append(.shutdown(continuation)) }
        waitingForStop = []
        endTurn()
    }
}

extension TransportError {
    static let shutDown = TransportError(.shutDown, .neverSent, message: "the transport has been shut down")
    static let unavailableVersion = TransportError(
        .misconfigured,
        .neverSent,
        message: "the libcurl in use cannot speak the version of HTTP that was asked for"
    )
    static let tooLate = TransportError(
        .sendLimitPassed,
        .neverSent,
        message: "it was too late to send the request"
    )
    fileprivate static let outOfHandles = TransportError(
        .outOfResources,
        .neverSent,
        message: "libcurl has no handle left, or does not accept the transfer"
    )
    static let queueTimeout = TransportError(
        .timedOut,
        .neverSent,
        message: "the time ran out before a connection was free"
    )
}
