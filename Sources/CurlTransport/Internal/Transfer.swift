import HTTPRecovery
import HTTPTypes

/// One attempt: the meeting point of the caller's task, the task that reads the request body, and the loop.
///
/// `@unchecked` because the section "the loop's own" is touched by the loop's thread alone, from the moment the
/// transfer is submitted; all else is immutable or in the mutex.
@safe
final class Transfer: @unchecked Sendable {
    /// The head of a response, and the body if it is there already.
    struct Head: Sendable {
        var response: HTTPResponse
        /// The whole body, if it came together with the head; otherwise it streams.
        var completeBody: [UInt8]?
        /// Whether fields came after that body.
        var hasTrailers = false
    }

    /// How reading a response body ends.
    enum Ending: Sendable {
        case complete
        case failed(TransportError)
    }

    let request: EncodedRequest
    /// When the attempt's time is over, on the monotonic clock.
    let deadline: UInt64
    /// Until when the request may leave.
    let sendLimit: AttemptOptions.SendLimit?
    let isOnNewConnection: Bool
    /// Measures the transfer; nil if nobody asks for it.
    let meter: TransferMeter?
    let loop: EventLoop
    let shared: Protected<Shared>

    // MARK: The loop's own

    /// The request's URL and header lines, until a handle has taken them over.
    private(set) var text: [UInt8] = []
    /// The handle that carries the transfer, while one does.
    var easy: EasyHandle?
    var shard: Shard?
    /// Where it waits or runs.
    var origin: OriginQueue?
    /// Its neighbours in the queue of its origin, while it waits there.
    var (previous, next): (Transfer?, Transfer?)
    var isQueued = false
    /// Whether it may share a connection, and wait for one that is being made.
    var isShared = false
    /// Its place among the deadlines that the loop sees to, or -1.
    var heapIndex = -1
    /// Its place among those that run, or -1.
    var runningIndex = -1
    /// What has come, and where that is while a handle carries the transfer.
    private var ownReception = Reception()
    private var receiving: UnsafeMutablePointer<ReceivingContext>?
    /// What is known of the transfer; each access is over at once, and not checked at run time.
    @safe @exclusivity(unchecked) var facts = TransferFacts(code: 0)
    var isHeadDelivered = false
    var isReceivePaused = false
    var isSendPaused = false
    /// What is known since libcurl has stopped receiving, although the request's body is not out.
    var earlyEnd = EarlyEnd.none
    /// Whether the transfer is in the loop's list of those with news.
    var hasNews = false
    /// How much of a body in memory has gone out.
    var sentBytes = 0
    /// What had come, and was not read, on the connection that libcurl closed.
    var unread: [UInt8]?
    /// Whether TLS's word that nothing more comes was behind it.
    var isUnreadEndAnnounced = true
    /// Why the request could not be sent whole, once an answer is read that came before that.
    var sendFailure: TransportError?
    /// What the refusal of an HTTP/2 stream is proven by.
    var evidence = RefusalEvidence()

    init(
        request: consuming EncodedRequest,
        deadline: UInt64,
        sendLimit: AttemptOptions.SendLimit? = nil,
        isOnNewConnection: Bool = false,
        awaitedBytes: Int = 0,
        meter: TransferMeter? = nil,
        loop: EventLoop
    ) {
        // Nobody else has it, so that its memory can be used again.
        swap(&text, &request.text)
        self.request = request
        self.deadline = deadline
        self.sendLimit = sendLimit
        self.isOnNewConnection = isOnNewConnection
        self.meter = meter
        self.loop = loop
        shared = .make(Shared(wanted: max(1, awaitedBytes)))
        ownReception.head.answersHEAD = self.request.method == "HEAD"
    }

    /// What the threads share.
    struct Shared {
        var headWaiter: Continuation<Void, any Error>?
        /// The head, from when its waiter is about to be resumed.
        var head: Head?
        var isCancelled = false
        /// Whether the loop has let go of the transfer.
        var isOver = false
        /// Body bytes that the consumer has not taken.
        var received: [UInt8] = []
        var ending: Ending?
        /// The fields after a complete body.
        var trailers: HTTPFields?
        var bodyWaiter: Continuation<[UInt8]?, any Error>?
        /// How many bytes it waits for, unless the body ends before; before it does, what it is going to wait for.
        var wanted = 1
        var isReceivePaused = false
        var upload = UploadState()

        /// Adds what has come, and leaves nothing.
        mutating func add(_ bytes: inout [UInt8]) {
            if received.isEmpty {
                swap(&received, &bytes)
            } else {
                received.append(contentsOf: bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }

        /// Gives back what has been received, for more to be added to it, to who waits for more.
        mutating func giveBack(_ bytes: inout [UInt8]) {
            if received.isEmpty { return }
            add(&bytes)
            swap(&bytes, &received)
        }

        /// What a reader gets now; nil if it has to wait.
        mutating func takeReceived() -> Result<[UInt8]?, any Error>? {
            if received.isEmpty {
                switch ending {
                case .complete: return .success(nil)
                case .failed(let error): return .failure(error)
                case nil: return nil
                }
            }
            guard received.count >= wanted || ending != nil else { return nil }
            var bytes: [UInt8] = []
            swap(&bytes, &received)
            wanted = 1
            return .success(bytes)
        }
    }

    // MARK: The caller's side

    /// Submits the transfer and waits for the head, which is there then for ``takeHead()``; to be called once.
    func submit() async throws {
        try await withTaskCancellationHandler {
            try await withThrowingContinuation { continuation in
                let isCancelled = shared.withLock { shared in
                    if !shared.isCancelled { shared.headWaiter = continuation }
                    return shared.isCancelled
                }
                if isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    loop.submit(.start(self))
                }
            }
        } onCancel: {
            cancel()
        }
        loop.batch.giveWay()
    }

    /// Hands over the head, to whom ``submit()`` has told that it is there.
    func takeHead() -> Head? { shared.withLock { $0.head.take() } }

    /// The next bytes of the response body, or nil at its end.
    ///
    /// - Parameter count: How many there are at least, unless the body ends with them.
    func nextBytes(atLeast count: Int) async throws -> [UInt8]? {
        let bytes = try await withTaskCancellationHandler {
            try await withThrowingContinuation { continuation in
                take(atLeast: count, continuation)
            }
        } onCancel: {
            cancel()
        }
        loop.batch.giveWay()
        return bytes
    }

    private func take(atLeast count: Int, _ continuation: Continuation<[UInt8]?, any Error>) {
        var resumeReceiving = false
        let answer: Result<[UInt8]?, any Error>? = shared.withLock { shared in
            if shared.isCancelled { return .failure(CancellationError()) }
            // Whoever asks for bytes leaves none behind, or waits for more.
            resumeReceiving = shared.isReceivePaused
            shared.isReceivePaused = false
            shared.wanted = count
            let answer = shared.takeReceived()
            if answer == nil { shared.bodyWaiter = continuation }
            return answer
        }
        if resumeReceiving { loop.submit(.resumeReceiving(self)) }
        if let answer { continuation.resume(with: answer) }
    }

    /// Ends the transfer: whoever waits for it gets a `CancellationError` now, the teardown follows on the loop.
    func cancel() {
        let (head, body, wasOver) = shared.withLock { shared in
            shared.isCancelled = true
            let waiters = (shared.headWaiter, shared.bodyWaiter, shared.isOver)
            shared.headWaiter = nil
            shared.bodyWaiter = nil
            shared.received = []
            return waiters
        }
        head?.resume(throwing: CancellationError())
        body?.resume(throwing: CancellationError())
        if !wasOver { loop.submit(.cancel(self)) }
    }

    // MARK: The loop's side

    /// Notes the handle that carries the transfer now.
    func begin(on easy: EasyHandle, _ shard: Shard) {
        self.easy = easy
        self.shard = shard
        text = []
        unsafe swap(&ownReception, &easy.receiving.pointee.reception)
        unsafe receiving = easy.receiving
    }

    /// Hands what has come to the function.
    @inline(__always)
    func withReception<Result>(_ body: (inout Reception) -> Result) -> Result {
        if let receiving = unsafe receiving { return unsafe body(&receiving.pointee.reception) }
        return body(&ownReception)
    }

    /// The socket that it has gone out on; nil if it has not, or that cannot be told.
    var socket: Int32? {
        guard facts.wireAttempts > 0, let socket = easy?.socket, socket >= 0 else { return nil }
        return socket
    }

    /// Takes note of what the response's head has told so far.
    func noteHead() {
        withReception { reception in
            facts.sawStatus = reception.head.sawStatus
            facts.sawHead = reception.head.sawHead
            if reception.head.isTooLarge { facts.ownReason = .headersTooLarge }
            if let defect = reception.head.defect { facts.ownReason = .noResponse(defect) }
        }
    }

    /// Takes what has come from the handle, which carries the transfer no longer.
    func takeReception() {
        guard let receiving = unsafe receiving else { return }
        unsafe swap(&ownReception, &receiving.pointee.reception)
        unsafe self.receiving = nil
    }

    /// Hands over what came in this turn; the resumptions are carried out by the loop when it has done its work.
    func publish(_ resumptions: inout [Resumption]) {
        hasNews = false
        guard facts.sawHead else { return }
        withReception { reception in
            shared.withLock { shared in
                guard !shared.isCancelled else {
                    reception.incoming = []
                    return
                }
                if !isHeadDelivered, let response = reception.head.takeResponse() {
                    isHeadDelivered = true
                    var head = Head(response: response)
                    if case .complete = shared.ending {
                        head.completeBody = reception.takeIncoming()
                        head.hasTrailers = shared.trailers != nil
                    }
                    if let meter, let easy, !shared.isOver { meter.read(easy, facts, isOver: false) }
                    if let waiter = shared.headWaiter.take() {
                        shared.head = head
                        resumptions.append(.head(waiter, nil))
                    }
                }
                if !reception.incoming.isEmpty { shared.add(&reception.incoming) }
                guard let waiter = shared.bodyWaiter, let answer = shared.takeReceived() else { return }
                resumptions.append(.body(waiter, answer))
                shared.bodyWaiter = nil
            }
        }
    }

    /// Ends the transfer on the loop's side with its result.
    func finish(_ failure: TransportError?, _ resumptions: inout [Resumption]) {
        var error = failure
        if let meter { error?.metrics = meter.metrics }
        withReception { reception in
            shared.withLock { shared in
                shared.isOver = true
                // With the end come the last bytes: a reader between the two would take the body for complete without them.
                if isHeadDelivered, !shared.isCancelled { shared.add(&reception.incoming) }
                shared.ending = error.map { .failed($0) } ?? .complete
                if error == nil { shared.trailers = reception.head.takeTrailers() }
                shared.upload.end(&resumptions)
                if let error, !facts.sawHead, let waiter = shared.headWaiter.take() {
                    resumptions.append(.head(waiter, error))
                }
            }
        }
        publish(&resumptions)
        easy = nil
        shard = nil
        origin = nil
    }

    /// Ends the upload of a transfer that no loop has any more, and perhaps none ever had.
    func abandon(_ resumptions: inout [Resumption]) {
        shared.withLock { shared in
            shared.isOver = true
            shared.upload.end(&resumptions)
        }
    }

    /// Takes bytes of the body.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which are copied.
    ///   - limit: The most that is kept for a consumer that does not wait for more.
    func receive(_ bytes: UnsafeRawBufferPointer, upTo limit: Int) {
        // Room is made once for what follows, and not again each time it has doubled: the allocator would give all of
        // that back to the system, and get it anew page by page.
        withReception { reception in
            if reception.bodyByteCount == 0 {
                let stated = easy?.statedLength ?? 0
                if max(stated, bytes.count) >= BodySizes.small {
                    reception.incoming.reserveCapacity(min(max(stated, limit), Self.mostRoom))
                }
            } else if reception.incoming.isEmpty, bytes.count >= BodySizes.small {
                reception.incoming.reserveCapacity(min(limit, Self.mostRoom))
            }
            unsafe reception.append(bytes)
        }
    }

    /// The most that room is made for on the word of a server.
    private static let mostRoom = 1 << 20

    /// Whether the consumer is so far behind that receiving must pause; it is noted for the consumer in that case.
    ///
    /// - Parameter limit: How far it may be, unless it waits for more.
    func mustPauseReceiving(above limit: Int) -> Bool {
        shared.withLock { shared in
            let isAwaited = shared.bodyWaiter != nil
            let ahead = isAwaited ? shared.wanted : BodySizes.ahead(of: shared.wanted, beside: loop.running.items.count)
            let limit = max(limit, ahead)
            let isFull = withReception { reception in
                let room = limit - shared.received.count - reception.incoming.count
                // Past what a compressed body may expand to, each piece is looked at.
                let most = request.decodes ? loop.configuration.maxDecompressedBytes : .max
                reception.room = max(0, min(room, most - reception.bodyByteCount))
                return room <= 0
            }
            if isFull {
                // What has come stays where its reader looks for it: nothing more may be published before he has.
                shared.isReceivePaused = true
            } else if shared.wanted > shared.received.count {
                // Who waits for more, or is going to, gets all of it in one piece.
                withReception { shared.giveBack(&$0.incoming) }
            }
            return isFull
        }
    }
}

extension Transfer: CustomReflectable {
    /// A mirror without children: whoever prints a response does not print requests, nor what is the loop's own.
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A continuation and what it is to be resumed with, or whoever else is to hear of an end.
enum Resumption {
    case head(Continuation<Void, any Error>, (any Error)?)
    case body(Continuation<[UInt8]?, any Error>, Result<[UInt8]?, any Error>)
    case upload(Continuation<Bool, Never>, Bool)
    case shutdown(Continuation<Void, Never>)
    case cancellation(Task<Void, Never>)

    func carryOut() {
        switch self {
        case .head(let continuation, nil): continuation.resume()
        case .head(let continuation, let error?): continuation.resume(throwing: error)
        case .body(let continuation, let result): continuation.resume(with: result)
        case .upload(let continuation, let isWanted): continuation.resume(returning: isWanted)
        case .shutdown(let continuation): continuation.resume()
        case .cancellation(let task): task.cancel()
        }
    }
}
