import CCurl
import Glibc
import HTTPRecovery
import Synchronization

/// One thread that drives libcurl for all transfers given to it.
///
/// `@unchecked` because all but `inbox`, `configuration`, `wakeup`, `wakers` and `batch` is confined to the loop's own thread.
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
    /// How many threads are about to wake the loop.
    private let wakers = Atomic<Int>(0)
    /// Those who are resumed at the end of a turn.
    let batch = ResumptionBatch()

    // MARK: The loop's own

    // That accesses do not overlap is not checked at run time where each of them is over at once: the checks are dear.

    let poller: Poller
    let share: UnsafeMutableRawPointer
    @safe @exclusivity(unchecked) var ledger = ConnectionLedger()
    /// Room for what comes into the inbox while the loop is busy with what was in it.
    private var (emptyCommands, emptyJobs): ([Command], [UnownedJob]) = ([], [])
    /// Continuations to resume at the end of the turn, all in one go.
    var resumptions: [Resumption] = []
    let mayUseHTTP2: Bool
    /// Whether connections are to sockets of the Unix domain, which have no ports that would tell them apart.
    let usesUnixSockets: Bool
    @safe @exclusivity(unchecked) var shards: [Shard] = []
    @safe @exclusivity(unchecked) var pool: [EasyHandle] = []
    let knownLines: UnsafeMutablePointer<KnownLines>
    @safe @exclusivity(unchecked) var knownURLs = KnownURLs()
    /// The origin that was asked for last, as mostly the next request is for the same; then nothing is looked up.
    @safe @exclusivity(unchecked) var lastOrigin: OriginQueue?
    /// All others that are in use.
    var origins: [EncodedRequest.Origin: OriginQueue] = [:]
    /// When whose time is over, who waits for a place or runs.
    @safe @exclusivity(unchecked) var deadlines = DeadlineHeap()
    /// Which origins share connections, and of which it has just become known.
    var sharing: [EncodedRequest.Origin: Bool] = [:]
    var justKnown: [OriginQueue] = []
    @safe @exclusivity(unchecked) var news: [Transfer] = []
    /// The connections on which streams were given up that their servers may not know of.
    var unsentResets: Set<Int32> = []
    /// Those that receive nothing more and wait for the rest of their requests' bodies, to be looked at by libcurl.
    var lonelyUploads: [Transfer] = []
    /// Those of them that no answer can come for any more.
    var abandonedUploads: [Transfer] = []
    /// Whether libcurl hands over what it has kept behind a pause.
    var isUnpausing = false
    @safe @exclusivity(unchecked) var running = RunningTransfers()
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
        if !post({ $0.commands.append(command) }) { refuse(command) }
    }

    func submit(_ job: UnownedJob) -> Bool {
        post { $0.jobs.append(job) }
    }

    /// Puts something into the inbox and ends the loop's sleep; false if the loop takes nothing any more.
    @inline(__always)
    private func post(_ put: (inout Inbox) -> Void) -> Bool {
        let (isAccepted, mustWake) = inbox.withLock { inbox in
            if inbox.hasStopped { return (false, false) }
            put(&inbox)
            let isSleeping = inbox.isSleeping
            inbox.isSleeping = false
            if isSleeping { wakers.add(1, ordering: .relaxed) }
            return (true, isSleeping)
        }
        if mustWake {
            // Behind the lock: on this thread's processor the loop would run at once, and wait for the lock.
            Poller.wake(wakeup)
            wakers.subtract(1, ordering: .releasing)
        }
        return isAccepted
    }

    /// Waits for those who are about to wake the loop: once its descriptor is closed, the number may be another's.
    func awaitWakers() {
        while wakers.load(ordering: .acquiring) > 0 { sched_yield() }
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
        batch.carryOut(ready)
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
