/// Work of several calls that belongs together: a poll, a batch with its rounds, an upload, a renewal.
///
/// All of it has one number in the events, one end there, and one set of bounds. Its calls are those of a client that is
/// ``RecoveringClient/within(_:)`` it; it pauses between them by ``pause(_:reason:)``. What is decided is decided by an
/// ``RecoveryOperation/Plan``, which ``run(_:_:)`` carries out.
///
/// ```swift
/// try await client.operation(deadline: .seconds(60)) { operation in
///     let client = client.within(operation)
///     while try await client.send(status).status == .accepted {
///         try await operation.pause(.seconds(2), reason: .challengePending)
///     }
/// }
/// ```
public struct RecoveryOperation: Sendable {
    /// The operation as a call of its own: number, deadline, longest wait, clock, and what all its calls have done.
    public private(set) var context: CallContext

    /// Until when its calls may send; nil is no limit.
    private(set) var sendBy: RequestOptions.SendBy?

    /// What holds the attempts of its calls back, beside what is the calls' own.
    private(set) var admissions: [any Admission] = []

    /// The calls of the client that has begun it; nil if none has.
    let home: OpenCalls?

    /// What the call failed with before that is made again now; nil if nothing is repeated.
    private(set) var repetition: Outcome.Kind?

    /// Creates an operation that belongs to no client; ``RecoveringClient/operation(deadline:longestWait:label:observer:_:)``
    /// is for all others.
    ///
    /// - Parameters:
    ///   - call: The call for which it is done; it is the parent in the events.
    ///   - deadline: When it has to be over; nil for any time.
    ///   - sendBy: Until when its calls may send; nil for any time.
    package init(for call: CallContext, until deadline: TimeSource.Instant?, sendBy: RequestOptions.SendBy? = nil) {
        let record = CallContext.Record(
            callID: call.runtime.numbers.next(),
            parent: call.record.callID,
            RequestOptions(label: call.options.label, observer: call.options.observer),
            call.surroundings
        )
        self.init(record, until: deadline, of: nil)
        self.sendBy = sendBy
    }

    init(
        _ record: CallContext.Record,
        until deadline: TimeSource.Instant?,
        longestWait: Duration? = nil,
        of home: OpenCalls?
    ) {
        context = CallContext(record)
        context.deadline = deadline
        context.longestWait = longestWait
        self.home = home
    }

    /// Whether it is done for a call that waits for it, as a renewal is.
    var isForACall: Bool { home == nil && context.record.parent != nil }

    /// The number in the events.
    public var number: Int { context.record.callID }

    /// Tells those who watch of something that the operation does between its calls.
    public func emit(_ kind: @autoclosure () -> RecoveryEvent.Kind) {
        context.emit(kind())
    }

    /// The operation with bounds that are at least as strict.
    ///
    /// - Parameters:
    ///   - deadline: When what is done has to be over; nil for no bound beside the operation's own.
    ///   - longestWait: The longest single wait; nil for no bound beside the operation's own.
    ///   - sendBy: Until when its calls may send; nil for no bound beside the operation's own.
    public func bounded(
        until deadline: TimeSource.Instant? = nil,
        longestWait: Duration? = nil,
        sendBy: RequestOptions.SendBy? = nil
    ) -> RecoveryOperation {
        var result = self
        result.context.deadline = [context.deadline, deadline].compactMap { $0 }.min()
        result.context.longestWait = [context.longestWait, longestWait].compactMap { $0 }.min()
        result.sendBy = RequestOptions.SendBy.earlier(self.sendBy, sendBy)
        return result
    }

    /// The operation, with something more that holds the attempts of its calls back.
    package func held(by admission: any Admission) -> RecoveryOperation {
        var result = self
        result.admissions.append(admission)
        return result
    }

    /// The operation, with another who is told its events.
    func observed(by observer: (@Sendable (RecoveryEvent) -> Void)?) -> RecoveryOperation {
        guard let observer else { return self }
        var result = self
        let outer = context.options.observer
        result.context.options.observer = { event in
            observer(event)
            outer?(event)
        }
        return result
    }

    /// Tells that an operation which no client has begun has ended.
    package func end(_ end: RecoveryEvent.End) {
        context.report(end)
    }

    /// Waits between two calls, visibly in the events.
    ///
    /// - Parameters:
    ///   - delay: How long; nothing happens if it is not above zero.
    ///   - reason: What is waited for.
    /// - Throws: `RecoveryError` of the kind `timed_out`, at once, for a wait past the deadline or the longest wait;
    ///   `CancellationError` as soon as the task is cancelled.
    public func pause(_ delay: Duration, reason: Outcome.Kind) async throws {
        guard delay > .zero else { return }
        let stop: History.StopReason?
        if let remaining = context.remaining, delay >= remaining {
            stop = remaining <= .zero ? .deadlinePassed : .deadlineWouldPass
        } else if let longest = context.longestWait, delay > longest {
            stop = .waitExceedsLimit
        } else {
            stop = nil
        }
        if let stop {
            let outcome = Outcome(.timedOut, processed: .yes)
            throw RecoveryError(after: outcome, reason: stop, needed: delay, response: nil, context: context)
        }
        try await context.wait(delay, reason: reason)
    }

    /// Carries out a plan.
    ///
    /// - Parameters:
    ///   - plan: What is done, and when.
    ///   - perform: Performs a step, with calls within the operation that it is given.
    /// - Returns: What the plan came to.
    /// - Throws: What the plan fails with; what `perform` throws beside `RecoveryError`, which the plan is told;
    ///   `CancellationError` as soon as the task is cancelled.
    public func run<Plan: RecoveryOperation.Plan>(
        _ plan: Plan,
        _ perform: (Plan.Step, RecoveryOperation) async throws -> Plan.Answer
    ) async throws -> Plan.Result {
        var plan = plan
        var event = RecoveryOperation.Event<Plan.Answer>.begun
        while true {
            switch try await advance(&plan, after: event, perform) {
            // What has come is handed out, whoever has gone meanwhile: it may be all that tells what the server has done.
            case .finished(let result): return result
            case .pausing(let delay, let reason):
                do {
                    try await pause(delay, reason: reason)
                    event = .paused
                } catch let error as RecoveryError {
                    event = .notPaused(error)
                }
            }
        }
    }

    /// Where a plan stops by itself.
    package enum Stop<Result: Sendable>: Sendable {
        /// At a pause.
        case pausing(Duration, reason: Outcome.Kind)
        /// At its end.
        case finished(Result)
    }

    /// Carries out a plan up to its next pause, for whoever pauses by themselves: between two requests of a browser, say.
    ///
    /// - Parameters:
    ///   - plan: What is done, and when.
    ///   - event: What has happened before: that it begins, or that the pause is over.
    ///   - perform: Performs a step, with calls within the operation that it is given.
    /// - Throws: As ``run(_:_:)``.
    package func advance<Plan: RecoveryOperation.Plan>(
        _ plan: inout Plan,
        after event: RecoveryOperation.Event<Plan.Answer>,
        _ perform: (Plan.Step, RecoveryOperation) async throws -> Plan.Answer
    ) async throws -> Stop<Plan.Result> {
        var event = event
        let (time, random) = (context.runtime.time, context.runtime.random)
        while true {
            switch plan.next(after: event, at: time.now, random: { random.unit() }) {
            case .perform(let step, let repetition):
                try Task.checkCancellation()
                var operation = self
                operation.repetition = repetition
                do {
                    event = .answered(try await perform(step, operation))
                } catch let error as RecoveryError {
                    event = .failed(error)
                }
            case .pause(let delay, let reason):
                try Task.checkCancellation()
                return .pausing(delay, reason: reason)
            case .finish(let result): return .finished(result)
            case .fail(let error):
                try Task.checkCancellation()
                throw error
            }
        }
    }
}
