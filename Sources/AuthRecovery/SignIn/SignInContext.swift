public import HTTPRecovery

/// What the steps of a sign-in are made with: the operation that its calls belong to, and how the person is told.
public struct SignInContext: Sendable {
    /// What the calls belong to: all of them and the pauses between them have one number.
    public private(set) var operation: RecoveryOperation

    /// Whether a session of the person who is named, which is there already, is a sign-in that has finished.
    public let acceptsExistingSession: Bool

    private let end: TimeSource.Instant?
    private let maxWait: Duration?
    private let tell: @Sendable (Outcome) async -> Void
    private let signals: AsyncStream<Signal>.Continuation?
    /// Whether the responder is shown waits; while they are asked something, they are busy.
    private let isShowing: Locked<Bool>

    private enum Signal: Sendable {
        case wait(Outcome.Kind, Duration, Timestamp)
        case goesOn

        /// What an event of the sign-in means for what is shown; nil if it changes nothing.
        init?(_ event: RecoveryEvent.Kind) {
            switch event {
            case .wait(let reason, let duration, let until): self = .wait(reason, duration, until)
            case .attempt, .givingUp, .done: self = .goesOn
            default: return nil
            }
        }
    }

    /// Runs steps of a sign-in as an operation.
    ///
    /// - Parameters:
    ///   - client: The client; calls are made by one that is within the operation.
    ///   - options: The bounds for waits between two calls.
    ///   - tell: Told what the person should know.
    ///   - body: The steps.
    static func run<Result: Sendable>(
        _ client: RecoveringClient,
        options: SignInOptions,
        telling tell: @escaping @Sendable (Outcome) async -> Void,
        _ body: (SignInContext) async throws -> Result
    ) async throws -> Result {
        try await client.operation { operation in
            try await body(SignInContext(operation, options, tell, nil))
        }
    }

    /// The same, with the waits shown to the responder, one after the other and each only while it lasts.
    static func run<Result: Sendable>(
        _ client: RecoveringClient,
        options: SignInOptions,
        showing responder: any ChallengeResponder,
        _ body: (SignInContext) async throws -> Result
    ) async throws -> Result {
        let (stream, signals) = AsyncStream.makeStream(of: Signal.self)
        async let shown: Void = show(stream, to: responder)
        let result: Swift.Result<Result, any Error>
        do {
            let isShowing = Locked(true)
            result = .success(
                try await client.operation(observer: { event in
                    if isShowing.withLock({ $0 }), let signal = Signal(event.kind) { signals.yield(signal) }
                }) { operation in
                    let tell: @Sendable (Outcome) async -> Void = { await responder.notice($0) }
                    return try await body(SignInContext(operation, options, tell, signals, isShowing))
                }
            )
        } catch {
            result = .failure(error)
        }
        signals.finish()
        await shown
        return try result.get()
    }

    private init(
        _ operation: RecoveryOperation,
        _ options: SignInOptions,
        _ tell: @escaping @Sendable (Outcome) async -> Void,
        _ signals: AsyncStream<Signal>.Continuation?,
        _ isShowing: Locked<Bool> = Locked(true)
    ) {
        self.isShowing = isShowing
        self.operation = operation
        self.tell = tell
        self.signals = signals
        end = options.deadline.map { operation.context.runtime.time.now.advanced(by: $0) }
        maxWait = options.maxWait
        acceptsExistingSession = options.acceptsExistingSession
    }

    /// The same, for the calls that submit the answer to a question; nil for those that submit none.
    func submitting(_ question: Challenge?) -> SignInContext {
        guard let question, let rule = LockedAnswer(question) else { return self }
        var context = self
        context.operation = operation.held(by: rule)
        return context
    }

    /// Tells the person something: a text of the server's, why an answer was refused.
    public func notice(_ outcome: Outcome) async {
        await tell(outcome)
    }

    /// Tells an event of the sign-in itself to those who watch the client.
    public func emit(_ kind: RecoveryEvent.Kind) {
        operation.emit(kind)
    }

    /// Shows waits to the responder, or does not, since they are asked something.
    func showsWaits(_ isShowing: Bool) {
        self.isShowing.withLock { $0 = isShowing }
    }

    /// Waits between two calls of the sign-in, visibly for those who watch and for the responder.
    ///
    /// - Throws: `RecoveryError` of the kind `timed_out`, at once, for a wait that would be too long; `CancellationError`
    ///   as soon as the task is cancelled.
    public func wait(_ delay: Duration, reason: Outcome.Kind) async throws {
        guard delay > .zero else { return }
        try check(delay)
        defer { signals?.yield(.goesOn) }
        try await operation.pause(delay, reason: reason)
    }

    /// What a person reads if a wait is not begun: nobody has failed to answer.
    package static let tooLong = "The next step would have to be waited for longer than there is time."

    private func check(_ delay: Duration) throws {
        let time = operation.context.runtime.time
        let moment = time.now.advanced(by: delay)
        let reason: History.StopReason
        if let end, moment >= end {
            reason = time.now >= end ? .deadlinePassed : .deadlineWouldPass
        } else if let maxWait, delay > maxWait {
            reason = .waitExceedsLimit
        } else {
            return
        }
        var outcome = Outcome(.timedOut, processed: .yes)
        outcome.userMessage = Self.tooLong
        throw RecoveryError(
            outcome: outcome,
            reason: reason,
            retryAfter: delay,
            retryAt: time.wallTime(at: moment)
        )
    }

    private static func show(_ signals: AsyncStream<Signal>, to responder: any ChallengeResponder) async {
        var shown: Task<Void, Never>?
        for await signal in signals {
            shown?.cancel()
            guard case .wait(let reason, let duration, let until) = signal else { continue }
            await shown?.value
            shown = Task { await responder.waiting(for: reason, duration: duration, until: until) }
        }
        shown?.cancel()
        // Who cancels the sign-in does not wait for whoever shows its waits.
        if !Task.isCancelled { await shown?.value }
    }
}
