#if Redis
import CHiredis
import Glibc
import HTTPRecovery

/// One connection to the server, and the thread that drives it: commands of all tasks go out together, and their
/// replies come back in the same order.
///
/// This is the side that any thread may use. `@unchecked` because the rest, in the other files, is confined to the
/// connection's own thread, which starts with the first command.
@safe
final class Connection: @unchecked Sendable {
    /// What the other threads have left for the connection's own.
    struct News {
        var requests: [Request] = []
        var abandoned: [Request] = []
        var addresses: [Result<[Address], SharedState.StoreError>] = []
        var isStopping = false
        var mustStandStill = false

        var isEmpty: Bool {
            requests.isEmpty && abandoned.isEmpty && addresses.isEmpty && !isStopping && !mustStandStill
        }
    }

    private struct Inbox {
        var news = News()
        var waitingForStop: [CheckedContinuation<Void, Never>] = []
        /// The requests that were taken on and have not ended.
        var pending = 0
        /// Whether the thread sleeps, or is about to, and must be woken.
        var isSleeping = false
        var isStarted = false
        var hasEnded = false
    }

    let configuration: RedisStore.Configuration
    let wakeup: Int32
    /// The channel that it listens to, and who is told of what comes, on the connection's thread.
    let channel: [UInt8]
    let receive: (@Sendable ([UInt8]) -> Void)?
    private let inbox = Locked(Inbox())

    // MARK: The thread's own

    var phase = Phase.idle
    var attempt = Attempt()
    var queued = FIFO<Request>()
    var inFlight = FIFO<Request>()
    /// Commands that take back others whose callers learnt nothing; they go out as soon as there is a connection.
    var amends: [Request] = []
    /// The earliest deadline of those that wait.
    var queueAlarm = Monotonic.never
    var outgoing = OutgoingBytes()
    var reader: ReplyReader?
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var tls: TLSContext?
    /// No deadline of a request under way is earlier.
    var alarm = Monotonic.never
    /// Whether bytes may be left to be read that the socket does not report.
    var mayHaveMore = false
    /// Whether the connection leads to a server that is of no use.
    var isRetired = false

    init(
        _ configuration: RedisStore.Configuration,
        hearing channel: String = "",
        _ receive: (@Sendable ([UInt8]) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.channel = Array(channel.utf8)
        self.receive = receive
        // If the system has no descriptor left it is negative, and no command is taken.
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit {
        if wakeup >= 0 { close(wakeup) }
    }

    // MARK: From any thread

    /// How many commands wait or are under way.
    var pending: Int { inbox.withLock { $0.pending } }

    /// Sends a command and returns its reply, which may be an error.
    ///
    /// - Throws: `Unsent` for a connection that cannot be had, `SharedState.StoreError` for one that is lost, and either
    ///   after the deadline; `CancellationError` as soon as the task is cancelled. A command that was sent may have been
    ///   carried out all the same; none is sent twice.
    func ask(_ command: Command, by deadline: UInt64) async throws -> Reply {
        let request = Request(command, purpose: .caller, deadline: deadline)
        try submit(request)
        do {
            return try await request.flight.value
        } catch let error as CancellationError {
            leave { $0.abandoned.append(request) }
            throw error
        }
    }

    /// Ends the thread and returns when it has; all commands fail.
    func stop() async {
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                inbox.news.isStopping = true
                if !inbox.isStarted || inbox.hasEnded { return true }
                inbox.waitingForStop.append(continuation)
                return false
            }
            if hasEnded { continuation.resume() } else { wake() }
        }
    }

    /// Ends the thread without waiting.
    func abandon() {
        leave { $0.isStopping = true }
    }

    /// Has the thread do nothing more, since the process ends.
    func standStill() {
        leave { $0.mustStandStill = true }
    }

    /// Hands over what a name's lookup has found.
    func found(_ addresses: Result<[Address], SharedState.StoreError>) {
        leave { $0.addresses.append(addresses) }
    }

    private func submit(_ request: Request) throws(SharedState.StoreError) {
        let limit = configuration.maxPendingCommands
        let (mustStart, mustWake) = try inbox.withLock { inbox throws(SharedState.StoreError) in
            guard !inbox.news.isStopping else { throw SharedState.StoreError("the Redis store is shut down") }
            guard wakeup >= 0 else { throw SharedState.StoreError("the Redis store has no file descriptor left") }
            guard inbox.pending < limit else {
                throw SharedState.StoreError(
                    "\(limit) commands wait for the Redis server already; it is too slow, or too far away"
                )
            }
            inbox.pending += 1
            inbox.news.requests.append(request)
            let mustStart = !inbox.isStarted
            inbox.isStarted = true
            defer { inbox.isSleeping = false }
            return (mustStart, inbox.isSleeping)
        }
        if mustWake { wake() }
        guard mustStart, !SystemThread.run({ self.run() }) else { return }
        let (refused, waiting) = inbox.withLock { inbox in
            inbox.isStarted = false
            inbox.pending -= inbox.news.requests.count
            defer {
                inbox.news.requests = []
                inbox.waitingForStop = []
            }
            return (inbox.news.requests, inbox.waitingForStop)
        }
        for request in refused { request.fail(SharedState.StoreError("the Redis store has no thread left")) }
        for continuation in waiting { continuation.resume() }
    }

    private func leave(_ body: (inout News) -> Void) {
        let mustWake = inbox.withLock { inbox in
            guard !inbox.hasEnded else { return false }
            body(&inbox.news)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if mustWake { wake() }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = unsafe Glibc.write(wakeup, &one, 8)
    }

    // MARK: From the connection's thread

    /// Takes what the others have left; nil when the thread is to end, which leaves it to ``end()``.
    func takeNews() -> News? {
        inbox.withLock { inbox in
            inbox.isSleeping = false
            guard !inbox.news.isStopping else { return nil }
            defer { inbox.news = News() }
            return inbox.news
        }
    }

    /// Whether nothing was left meanwhile, so that the thread may sleep; from here on others wake it.
    func fallsAsleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isSleeping = inbox.news.isEmpty
            return inbox.isSleeping
        }
    }

    /// Makes room for so many further requests.
    func release(_ count: Int) {
        inbox.withLock { $0.pending -= count }
    }

    /// Takes nothing from here on, and tells those who wait for the end.
    func end() {
        let (requests, waiting) = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer {
                inbox.news = News(isStopping: true)
                inbox.waitingForStop = []
            }
            return (inbox.news.requests, inbox.waitingForStop)
        }
        for request in requests { request.fail(SharedState.StoreError("the Redis store is shut down")) }
        for continuation in waiting { continuation.resume() }
    }
}
#endif
