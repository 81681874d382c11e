#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPRecovery
import HTTPTypes
import NIOCore
import NIOHTTP1

/// One attempt: the meeting point of the caller's task, the task that reads the request body, and the client's loop.
///
/// `@unchecked` because the section "the loop's own" is touched on the loop alone, from the moment the transfer is
/// handed to it; all else is immutable or in the lock.
final class Transfer: HTTPClientResponseDelegate, @unchecked Sendable {
    typealias Response = Void

    /// How reading a response body ends.
    enum Ending: Sendable {
        case complete
        case failed(TransportError)
    }

    /// What the threads share.
    struct Shared {
        var headWaiter: CheckedContinuation<HTTPResponse, any Error>?
        var isCancelled = false
        /// Whether the loop has let go of the transfer.
        var isOver = false
        /// Body bytes that the consumer has not taken.
        var received: [UInt8] = []
        var ending: Ending?
        /// The fields after a complete body.
        var trailers = HTTPFields()
        var bodyWaiter: CheckedContinuation<[UInt8]?, any Error>?
        /// Whether the client waits with further bytes until some were taken.
        var isReceivePaused = false
    }

    let request: EncodedRequest
    let deadline: NIODeadline?
    let sendLimit: AttemptOptions.SendLimit?
    let isOnNewConnection: Bool
    /// Measures the transfer; nil if nobody asks for it.
    let meter: TransferMeter?
    let pool: LoopPool
    let shared = Locked(Shared())

    // MARK: The loop's own

    var facts = TransferFacts()
    var upload = UploadState()
    private var number: UInt64?
    private var task: HTTPClient.Task<Void>?
    private var client: PooledClient?
    private var isOver = false
    /// What the client waits for before it hands over more of the body.
    private var demand: EventLoopPromise<Void>?
    /// How many bytes of the body the pipeline let through, and how many of them were delivered.
    private var passedBytes = 0
    private var deliveredBytes = 0
    private var status = 0

    init(request: EncodedRequest, options: AttemptOptions, pool: LoopPool) {
        self.request = request
        self.deadline = options.timeout.map { .now() + .nanoseconds(Int64(clamping: Monotonic.nanoseconds($0))) }
        self.sendLimit = options.sendLimit
        self.isOnNewConnection = options.isOnNewConnection
        self.meter = pool.configuration.reportsMetrics ? TransferMeter() : nil
        self.pool = pool
    }

    // MARK: The caller's side

    /// Hands the transfer to its loop and waits for the head; to be called once.
    func head() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = shared.withLock { shared in
                    if !shared.isCancelled { shared.headWaiter = continuation }
                    return shared.isCancelled
                }
                if isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    pool.loop.execute { self.start() }
                }
            }
        } onCancel: {
            cancel()
        }
    }

    /// The next bytes of the response body, or nil at its end.
    func nextBytes() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                take(continuation)
            }
        } onCancel: {
            cancel()
        }
    }

    private func take(_ continuation: CheckedContinuation<[UInt8]?, any Error>) {
        var resumeReceiving = false
        let answer: Result<[UInt8]?, any Error>? = shared.withLock { shared in
            if shared.isCancelled { return .failure(CancellationError()) }
            // Whoever asks for bytes leaves none behind.
            resumeReceiving = shared.isReceivePaused
            shared.isReceivePaused = false
            if !shared.received.isEmpty {
                var bytes: [UInt8] = []
                swap(&bytes, &shared.received)
                return .success(bytes)
            }
            switch shared.ending {
            case .complete: return .success(nil)
            case .failed(let error): return .failure(error)
            case nil:
                shared.bodyWaiter = continuation
                return nil
            }
        }
        if resumeReceiving { pool.loop.execute { self.satisfyDemand() } }
        if let answer { continuation.resume(with: answer) }
    }

    /// Ends the transfer: whoever waits for it gets a `CancellationError` now, the teardown follows on the loop.
    func cancel() {
        let (head, body) = shared.withLock { shared in
            shared.isCancelled = true
            let waiters = (shared.headWaiter, shared.bodyWaiter)
            shared.headWaiter = nil
            shared.bodyWaiter = nil
            shared.received = []
            return waiters
        }
        head?.resume(throwing: CancellationError())
        body?.resume(throwing: CancellationError())
        pool.loop.execute { self.fail(CancellationError()) }
    }

    // MARK: On the loop

    private func start() {
        if isOver || shared.withLock({ $0.isCancelled }) { return }
        do throws(TransportError) {
            guard let number = pool.enter(self) else { throw TransportError.shutDown }
            self.number = number
            try checkSendLimit()
            let client = try pool.client(for: request.origin, isAlone: isOnNewConnection)
            self.client = client
            let task = client.client.execute(request: try clientRequest(number), delegate: self, deadline: deadline)
            self.task = task
            // Not every failure is told to the delegate.
            task.futureResult.whenFailure { self.fail($0) }
            if isOver { task.cancel() }
        } catch {
            fail(error)
        }
    }

    private func checkSendLimit() throws(TransportError) {
        if let sendLimit, sendLimit.hasPassed { throw TransportError.tooLate }
    }

    private func clientRequest(_ number: UInt64) throws(TransportError) -> HTTPClient.Request {
        var headers = request.headers
        headers.add(name: WireHandler.mark, value: String(number))
        do {
            return try HTTPClient.Request(
                url: request.origin + "/",
                method: request.method,
                headers: headers,
                body: clientBody
            )
        } catch {
            throw TransportError.invalid("the client accepts no URL of this authority")
        }
    }

    private var clientBody: HTTPClient.Body? {
        switch request.body {
        case .none: nil
        case .bytes(let bytes) where bytes.isEmpty: nil
        case .bytes(let bytes): .stream(contentLength: Int64(bytes.count)) { self.beginUpload($0) }
        case .stream(_, let length): .stream(contentLength: length.map { Int64($0) }) { self.beginUpload($0) }
        }
    }

    private var sendsBody: Bool {
        switch request.body {
        case .none: false
        case .bytes(let bytes): !bytes.isEmpty
        case .stream: true
        }
    }

    /// Whether the head may be written now, the last moment before it is.
    func willWrite() throws(TransportError) {
        guard facts.wireAttempts == 0 else {
            facts.isVetoed = true
            throw TransportError(.connectionLost, .unknown, message: "a resend was prevented")
        }
        try checkSendLimit()
        facts.wireAttempts = 1
    }

    /// Ends the transfer with an error, the first of which counts; or well, if nothing but the request's own end was missing.
    func fail(_ error: any Error) {
        if isOver { return }
        // What became of the rest of the request is no matter then.
        if isAnswered, !(error is CancellationError) { return finish(.complete) }
        if let client, [.connectTimeout, .getConnectionFromPoolTimeout].contains(error as? HTTPClientError) {
            pool.noteNoConnection(client, to: request.origin)
        }
        meter?.end()
        var failure = Verdict.error(for: error, facts: facts)
        if let meter { failure.metrics = meter.metrics }
        finish(.failed(failure))
    }

    /// - Parameter isLetGo: Whether the client has done with it as well.
    private func finish(_ ending: Ending, isLetGo: Bool = false) {
        if isOver { return }
        isOver = true
        if let number { pool.leave(number) }
        meter?.end()
        let (head, body) = shared.withLock { shared in
            shared.isOver = true
            shared.ending = ending
            let waiters = (shared.headWaiter, shared.bodyWaiter)
            shared.headWaiter = nil
            shared.bodyWaiter = nil
            return waiters
        }
        switch ending {
        case .complete: body?.resume(returning: nil)
        case .failed(let error):
            head?.resume(throwing: error)
            body?.resume(throwing: error)
        }
        if isLetGo, !isUploading, demand == nil, !isOnNewConnection {
            task = nil
            giveBackClient()
        } else {
            // Later, for the client may be in the middle of what has led here.
            pool.loop.execute { self.tearDown() }
        }
    }

    private func tearDown() {
        task?.cancel()
        task = nil
        endUpload(.failure(TransportError.gone))
        satisfyDemand()
        giveBackClient()
    }

    private func giveBackClient() {
        if let client { pool.giveBack(client) }
        client = nil
    }

    // MARK: The client's delegate

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        // It went through the handler, which has noted it; should it ever not have, it is not taken for unsent.
        facts.wireAttempts = max(facts.wireAttempts, 1)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        facts.sawStatus = true
        facts.sawHead = true
        status = Int(head.status.code)
        guard let response = ResponseHead.make(head) else {
            fail(TransportError.noStatus)
            return pool.loop.makeFailedFuture(TransportError.gone)
        }
        let waiter = shared.withLock { shared in
            let waiter = shared.headWaiter
            shared.headWaiter = nil
            return waiter
        }
        waiter?.resume(returning: response)
        return pool.loop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        deliveredBytes += buffer.readableBytes
        guard !isOver else { return pool.loop.makeFailedFuture(TransportError.gone) }
        let limit = pool.configuration.maxBufferedBytes
        var waiter: CheckedContinuation<[UInt8]?, any Error>?
        var bytes: [UInt8] = []
        let isFull = shared.withLock { shared in
            shared.received.append(contentsOf: buffer.readableBytesView)
            if shared.bodyWaiter != nil {
                swap(&waiter, &shared.bodyWaiter)
                swap(&bytes, &shared.received)
                return false
            }
            shared.isReceivePaused = shared.received.count >= limit
            return shared.isReceivePaused
        }
        waiter?.resume(returning: bytes)
        endEarlyIfWhole()
        guard isFull, !isOver else { return pool.loop.makeSucceededVoidFuture() }
        let promise = pool.loop.makePromise(of: Void.self)
        demand = promise
        return promise.futureResult
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) {
        fail(error)
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        finish(.complete, isLetGo: true)
    }

    private func satisfyDemand() {
        let promise = demand
        demand = nil
        promise?.succeed(())
    }

    /// So many bytes of the body are on their way to the delegate.
    func notePassed(_ count: Int) {
        passedBytes += count
    }

    /// The response is whole, with what stood behind its body.
    func noteEnd(_ trailers: HTTPHeaders?) {
        facts.sawEnd = true
        guard let trailers, !trailers.isEmpty else { return }
        let fields = ResponseHead.fields(trailers)
        shared.withLock { $0.trailers = fields }
    }

    /// Ends the transfer when a refusal is whole although the request's body is not, or any answer although the body has not
    /// begun: the client sends no more of it then, and waits for ever.
    func endEarlyIfWhole() {
        guard isAnswered, sendsBody else { return }
        if !hasUploadBegun || status >= 300 && isUploading { finish(.complete) }
    }

    /// Whether the whole response has been handed over.
    private var isAnswered: Bool { facts.sawEnd && status > 0 && deliveredBytes == passedBytes }
}
#endif
