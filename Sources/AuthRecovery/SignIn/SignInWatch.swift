package import HTTPRecovery

/// A sign-in as an operation: its calls and pauses have one number, and its waits are shown to the responder, one after
/// the other and each only while it lasts.
package struct SignInWatch: Sendable {
    private enum Signal: Sendable {
        case wait(Outcome.Kind, Duration, Timestamp)
        case goesOn

        /// What an event of the sign-in means for what is shown; nil where it changes nothing.
        init?(_ event: RecoveryEvent.Kind) {
            switch event {
            case .wait(let reason, let duration, let until): self = .wait(reason, duration, until)
            case .attempt, .givingUp, .done: self = .goesOn
            default: return nil
            }
        }
    }

    /// What the sign-in's calls belong to.
    package let operation: RecoveryOperation

    private let signals: AsyncStream<Signal>.Continuation
    private let end: TimeSource.Instant?
    private let maxWait: Duration?

    /// Runs a sign-in, with its waits shown beside it.
    ///
    /// - Parameters:
    ///   - client: The client; calls are made by one that is within the watch's operation.
    ///   - responder: Whom waits are shown.
    ///   - options: The bounds for waits between two calls.
    ///   - signIn: The sign-in.
    package static func run<Session: Sendable>(
        _ client: RecoveringClient,
        showing responder: any ChallengeResponder,
        options: SignInOptions,
        _ signIn: (SignInWatch) async throws -> Session
    ) async throws -> Session {
        let (stream, signals) = AsyncStream.makeStream(of: Signal.self)
        async let shown: Void = show(stream, to: responder)
        let result: Result<Session, any Error>
        do {
            result = .success(
                try await client.operation(observer: { event in
                    if let signal = Signal(event.kind) { signals.yield(signal) }
                }) { operation in
                    let end = options.deadline.map { operation.context.runtime.time.now.advanced(by: $0) }
                    let watch = SignInWatch(operation: operation, signals: signals, end: end, maxWait: options.maxWait)
                    return try await signIn(watch)
                }
            )
        } catch {
            result = .failure(error)
        }
        signals.finish()
        await shown
        return try result.get()
    }

    /// Tells an event of the sign-in itself to those who watch the client.
    package func emit(_ kind: RecoveryEvent.Kind) {
        operation.emit(kind)
    }

    /// Waits between two calls of the sign-in, as between two polls, visibly for those who watch and for the responder.
    ///
    /// - Throws: `RecoveryError` of the kind `timed_out`, at once, for a wait that would be too long; `CancellationError`
    ///   as soon as the task is cancelled.
    package func wait(_ delay: Duration, reason: Outcome.Kind) async throws {
        guard delay > .zero else { return }
        try check(delay)
        defer { signals.yield(.goesOn) }
        try await operation.pause(delay, reason: reason)
    }

    /// What a person reads where a wait is not begun: nobody has failed to answer.
    package static let tooLong = "The next step would have to be waited for longer than there is time."

    private func check(_ delay: Duration) throws {
        let time = operation.context.runtime.time
        let moment = time.now.advanced(by: delay)
        let reason: StopReason
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
