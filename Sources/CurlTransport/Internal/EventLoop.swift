import CCurl
import Glibc
import HTTPRecovery

/// One thread that drives libcurl for all transfers given to it.
///
/// `@unchecked` because all but `inbox`, `configuration` and `wakeup` is confined to the loop's own thread.
@safe
final class EventLoop: @unchecked Sendable {
    /// What other threads ask of the loop.
    enum Command {
        case start(Transfer)
        case cancel(Transfer)
        case resumeReceiving(Transfer)
        case resumeSending(Transfer)
        case shutDown
        /// The process ends.
        case standStill
        case whenStopped(Continuation<Void, Never>)
    }

    private struct Inbox {
        var commands: [Command] = []
        var jobs: [UnownedJob] = []
        /// Whether the loop sleeps, or is about to, and must be woken.
        var isSleeping = false
        /// Whether the thread has ended; nothing is accepted any more.
        var hasStopped = false
        var thread: SystemThread?
    }

    let configuration: CurlTransport.Configuration
    let sharedOptions: SharedOptions
    private let inbox = Protected.make(Inbox())
    private let wakeup: Int32

    // MARK: The loop's own

    let poller: Poller
    let share: UnsafeMutableRawPointer
    var ledger = ConnectionLedger()
    /// Room for what comes into the inbox while the loop is busy with what was in it.
    private var (emptyCommands, emptyJobs): ([Command], [UnownedJob]) = ([], [])
    /// Continuations to resume at the end of the turn, all in one go.
    var resumptions: [Resumption] = []
    let mayUseHTTP2: Bool
    /// Whether connections are to sockets of the Unix domain, which have no ports that would tell them apart.
    let usesUnixSockets: Bool
    var shards: [Shard] = []
    var pool: [EasyHandle] = []
    let knownLines: UnsafeMutablePointer<KnownLines>
    var knownURLs = KnownURLs()
    /// The origin that was asked for last, as mostly the next request is for the same; then nothing is looked up.
    var lastOrigin: OriginQueue?
    /// All others that are in use.
    var origins: [EncodedRequest.Origin: OriginQueue] = [:]
    /// When whose time is over, who waits for a place or runs.
    var deadlines = DeadlineHeap()
    /// Which origins share connections, and of which it has just become known.
    var sharing: [EncodedRequest.Origin: Bool] = [:]
    var justKnown: [OriginQueue] = []
    var news: [Transfer] = []
    /// The connections on which streams were given up that their servers may not know of.
    var unsentResets: Set<Int32> = []
    /// Those that receive nothing more and wait for the rest of their requests' bodies, to be looked at by libcurl.
    var lonelyUploads: [Transfer] = []
    /// Those of them that no answer can come for any more.
    var abandonedUploads: [Transfer] = []
    /// Whether libcurl hands over what it has kept behind a pause.
    var isUnpausing = false
    var running = RunningTransfers()
    var isShuttingDown = false
    private var mustStandStill = false
    var waitingForStop: [Continuation<Void, Never>] = []

    /// Creates the loop and starts its thread; nil when the system has no descriptor or thread left.
    init?(configuration: CurlTransport.Configuration) {
        guard let poller = Poller() else { return nil }
        guard let share = unsafe curl_share_init() else {
            poller.close()
            return nil
        }
        // One thread uses the share, so it needs no locks.
        unsafe ccurl_share_set(share, CURL_LOCK_DATA_DNS)
        unsafe ccurl_share_set(share, CURL_LOCK_DATA_SSL_SESSION)
        self.configuration = configuration
        self.sharedOptions = SharedOptions(configuration)
        self.poller = poller
        self.wakeup = poller.wakeup
        unsafe self.share = share
        unsafe knownLines = .allocate(capacity: 1)
        unsafe knownLines.initialize(to: KnownLines())
        self.mayUseHTTP2 = configuration.httpVersion.mayUseHTTP2 || configuration.speaksHTTP2WithPriorKnowledge
        self.usesUnixSockets = configuration.unixSocketPath != nil
        guard startThread() else {
            unsafe curl_share_cleanup(share)
            poller.close()
            return nil
        }
    }

    deinit {
        unsafe knownLines.deinitialize(count: 1)
        unsafe knownLines.deallocate()
    }

    // MARK: From any thread

    func submit(_ command: Command) {
        let isAccepted = inbox.withLock { inbox in
            if inbox.hasStopped { return false }
            inbox.commands.append(command)
            wake(&inbox)
            return true
        }
        if !isAccepted { refuse(command) }
    }

    func submit(_ job: UnownedJob) -> Bool {
        inbox.withLock { inbox in
            if inbox.hasStopped { return false }
            inbox.jobs.append(job)
            wake(&inbox)
            return true
        }
    }

    /// Ends the loop's sleep, within the lock: behind it the loop may have ended, and its descriptor's number be another's.
    private func wake(_ inbox: inout Inbox) {
        if inbox.isSleeping { Poller.wake(wakeup) }
        inbox.isSleeping = false
    }

    /// Stops the loop and returns when its thread has ended.
    func stop() async {
        submit(.shutDown)
        await withContinuation { submit(.whenStopped($0)) }
        let thread = inbox.withLock { inbox in
            let thread = inbox.thread
            inbox.thread = nil
            return thread
        }
        // The loop has done its last work, so this waits for the thread's exit alone: microseconds.
        thread?.join()
    }

    /// Stops the loop without waiting.
    func abandon() {
        let thread = inbox.withLock { inbox in
            let thread = inbox.thread
            inbox.thread = nil
            return thread
        }
        thread?.detach()
        submit(.shutDown)
    }

    private func refuse(_ command: Command) {
        var resumptions: [Resumption] = []
        switch command {
        case .start(let transfer): transfer.finish(.shutDown, &resumptions)
        case .cancel(let transfer): transfer.abandon(&resumptions)
        case .whenStopped(let continuation): continuation.resume()
        case .resumeReceiving, .resumeSending, .shutDown, .standStill: break
        }
        for resumption in resumptions { resumption.carryOut() }
    }

    private func startThread() -> Bool {
        guard let thread = SystemThread({ self.run() }) else { return false }
        inbox.withLock { $0.thread = thread }
        return true
    }

    // MARK: The thread

    private func run() {
        let thread = ProcessEnd.enter { self.submit(.standStill) }
        defer {
            // What else is left to the end of the thread, which may come after that of the process has begun.
            OpenSSL.loaded?.leaveThread()
            ProcessEnd.leave(thread)
        }
        while true {
            sleepAndHandleEvents()
            lookAtLonelyUploads()
            runInbox()
            if mustStandStill {
                refuseTheRest()
                ProcessEnd.standStill(thread)
            }
            runTimers()
            sendResets()
            for shard in shards where shard.isTouched { readResults(of: shard) }
            endAbandonedUploads()
            releaseUploads()
            admitToKnown()
            endTurn()
            if isShuttingDown {
                tearDown()
                return
            }
            poller.applyChanges()
        }
    }

    private func sleepAndHandleEvents() {
        let deadline = nextDeadline()
        let mayBlock = inbox.withLock { inbox in
            inbox.isSleeping = inbox.commands.isEmpty && inbox.jobs.isEmpty
            return inbox.isSleeping
        }
        let isDone = news.isEmpty && unsentResets.isEmpty && lonelyUploads.isEmpty && abandonedUploads.isEmpty
        let milliseconds = mayBlock && isDone ? Monotonic.pollTimeout(until: deadline) : 0
        // Events come before new requests: a connection that has died meanwhile must not be used for one.
        poller.wait(milliseconds: milliseconds, use: use(of:)) { socket, events, shard in
            var action: Int32 = 0
            if events & Poller.inMask != 0 { action |= CURL_CSELECT_IN }
            if events & Poller.outMask != 0 { action |= CURL_CSELECT_OUT }
            if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { action |= CURL_CSELECT_ERR | CURL_CSELECT_IN }
            var stillRunning: Int32 = 0
            _ = unsafe curl_multi_socket_action(shard.multi, socket, action, &stillRunning)
            shard.isTouched = true
        }
        if milliseconds != 0 { inbox.withLock { $0.isSleeping = false } }
    }

    /// Who has a connection of which nothing is wanted.
    private func use(of socket: Int32) -> Poller.Use {
        let transfer = running.items.first { transfer in
            guard transfer.facts.wireAttempts > 0, transfer.easy?.readsSavedAnswer == false else { return false }
            // Of one that is paused and whose socket is not known, what comes may be the body.
            return transfer.socket.map { $0 == socket } ?? (usesUnixSockets || transfer.isReceivePaused)
        }
        guard let transfer else { return .nobody }
        guard transfer.waitsForSourceAlone else { return .paused }
        guard Poller.hasEnded(socket) else { return .sender }
        abandonedUploads.append(transfer)
        return .paused
    }

    private func nextDeadline() -> UInt64 {
        var deadline = deadlines.first
        for shard in shards { deadline = min(deadline, shard.deadline, shard.closesAt) }
        return deadline
    }

    private func runInbox() {
        var (commands, jobs): ([Command], [UnownedJob]) = ([], [])
        swap(&commands, &emptyCommands)
        swap(&jobs, &emptyJobs)
        inbox.withLock { inbox in
            inbox.isSleeping = false
            swap(&commands, &inbox.commands)
            swap(&jobs, &inbox.jobs)
        }
        for command in commands { perform(command) }
        for job in jobs { unsafe job.runSynchronously(on: UnownedTaskExecutor(self)) }
        commands.removeAll(keepingCapacity: true)
        jobs.removeAll(keepingCapacity: true)
        swap(&commands, &emptyCommands)
        swap(&jobs, &emptyJobs)
    }

    private func perform(_ command: Command) {
        switch command {
        case .start(let transfer): admit(transfer)
        case .cancel(let transfer): drop(transfer)
        case .resumeReceiving(let transfer):
            transfer.isReceivePaused = false
            unpause(transfer)
        case .resumeSending(let transfer):
            transfer.isSendPaused = false
            unpause(transfer)
        case .shutDown: isShuttingDown = true
        case .standStill: mustStandStill = true
        case .whenStopped(let continuation): waitingForStop.append(continuation)
        }
    }

    private func runTimers() {
        let now = Monotonic.now()
        while deadlines.first <= now {
            guard let transfer = deadlines.removeFirst() else { break }
            timeOut(transfer)
        }
        for shard in shards where shard.deadline <= now {
            // Each call may ask for another at once; what is left after a few comes in the next turn.
            for _ in 0..<4 where shard.deadline <= now {
                shard.deadline = Monotonic.never
                var stillRunning: Int32 = 0
                _ = unsafe curl_multi_socket_action(shard.multi, CURL_SOCKET_BAD, 0, &stillRunning)
                shard.isTouched = true
            }
        }
        closeIdleShards(now)
    }

    /// Accepts nothing more, since the process ends: who comes later is not kept waiting.
    ///
    /// What is under way stays as it is.
    private func refuseTheRest() {
        for command in closeInbox().0 { refuse(command) }
        for continuation in waitingForStop { continuation.resume() }
        waitingForStop = []
    }

    /// Accepts nothing from here on, and hands over what came last.
    func closeInbox() -> ([Command], [UnownedJob]) {
        inbox.withLock { inbox in
            inbox.hasStopped = true
            let rest = (inbox.commands, inbox.jobs)
            inbox.commands = []
            inbox.jobs = []
            return rest
        }
    }

    func endTurn() {
        for transfer in news where transfer.hasNews { transfer.publish(&resumptions) }
        news.removeAll(keepingCapacity: true)
        if resumptions.isEmpty { return }
        var ready: [Resumption] = []
        swap(&ready, &resumptions)
        for resumption in ready { resumption.carryOut() }
        ready.removeAll(keepingCapacity: true)
        swap(&ready, &resumptions)
    }
}

extension EventLoop: CustomReflectable {
    /// A mirror without children: nothing of it may be looked at on another thread, and requests wait in it.
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension EventLoop: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // After the loop's end its jobs still have to run somewhere.
        if !submit(job) { unsafe job.runSynchronously(on: UnownedTaskExecutor(self)) }
    }
}
