package import HTTPRecovery
import Synchronization

/// Watches the calls of one sign-in: it knows which call is under way, and shows waits to the responder, one after the
/// other and each only while it lasts.
package final class SignInWatch: Sendable {
    private enum Signal: Sendable {
        case wait(Outcome.Kind, Duration, Timestamp)
        case goesOn
    }

    private let responder: any ChallengeResponder
    private let signals: AsyncStream<Signal>
    private let continuation: AsyncStream<Signal>.Continuation
    private let latest = Atomic(0)
    private let end: TimeSource.Instant?
    private let maxWait: Duration?

    /// A watch of a sign-in that begins now; it keeps the bounds of the options for waits between two calls.
    package init(_ responder: any ChallengeResponder, options: SignInOptions, now: TimeSource.Instant) {
        self.responder = responder
        end = options.deadline.map { now.advanced(by: $0) }
        maxWait = options.maxWait
        (signals, continuation) = AsyncStream.makeStream()
    }

    /// The number of the latest call, under which the sign-in's own events appear.
    package var call: Int {
        latest.load(ordering: .relaxed)
    }

    /// Takes an event of one of the calls.
    package func observe(_ event: RecoveryEvent) {
        latest.store(event.call, ordering: .relaxed)
        switch event.kind {
        case .wait(let reason, let duration, let until): continuation.yield(.wait(reason, duration, until))
        case .attempt, .givingUp, .done: continuation.yield(.goesOn)
        default: break
        }
    }

    /// Tells an event of the sign-in itself to those who watch the client.
    package func emit(_ kind: RecoveryEvent.Kind, in runtime: Runtime) {
        runtime.events.emit(RecoveryEvent(call: call, time: runtime.time.now, kind: kind))
    }

    /// Waits between two calls of the sign-in, as between two polls, visibly for those who watch and for the responder.
    ///
    /// - Throws: `RecoveryError` of the kind `timed_out`, at once, for a wait that would be too long; `CancellationError`
    ///   as soon as the task is cancelled.
    package func wait(_ delay: Duration, reason: Outcome.Kind, in runtime: Runtime) async throws {
        guard delay > .zero else { return }
        let end = runtime.time.now.advanced(by: delay)
        try check(delay, until: end, in: runtime)
        let kind = RecoveryEvent.Kind.wait(reason: reason, duration: delay, until: runtime.time.wallTime(at: end))
        emit(kind, in: runtime)
        observe(RecoveryEvent(call: call, time: runtime.time.now, kind: kind))
        defer { continuation.yield(.goesOn) }
        try await runtime.time.sleep(until: end)
    }

    /// What a person reads where a wait is not begun: nobody has failed to answer.
    package static let tooLong = "The next step would have to be waited for longer than there is time."

    private func check(_ delay: Duration, until moment: TimeSource.Instant, in runtime: Runtime) throws {
        let reason: StopReason
        if let end, moment >= end {
            reason = runtime.time.now >= end ? .deadlinePassed : .deadlineWouldPass
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
            retryAt: runtime.time.wallTime(at: moment)
        )
    }

    /// Runs the sign-in, with its waits shown beside it.
    package func run<Session: Sendable>(_ signIn: () async throws -> Session) async throws -> Session {
        async let shown: Void = show()
        let result: Result<Session, any Error>
        do {
            result = .success(try await signIn())
        } catch {
            result = .failure(error)
        }
        continuation.finish()
        await shown
        return try result.get()
    }

    private func show() async {
        var shown: Task<Void, Never>?
        for await signal in signals {
            shown?.cancel()
            guard case .wait(let reason, let duration, let until) = signal else { continue }
            await shown?.value
            shown = Task { [responder] in await responder.waiting(for: reason, duration: duration, until: until) }
        }
        shown?.cancel()
        // Who cancels the sign-in does not wait for whoever shows its waits.
        if !Task.isCancelled { await shown?.value }
    }
}
