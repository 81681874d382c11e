import HTTPTypes

extension CallDriver {
    /// Plans an attempt.
    ///
    /// - Returns: Whether anybody has to be asked about it.
    /// - Throws: `CancellationError` in a cancelled task.
    @inline(never)
    mutating func plan(_ cause: History.Cause, isDue: Bool, after delay: Duration, _ request: HTTPRequest) throws
        -> Bool
    {
        event = .admitted
        if firstResult != nil { return false }
        if Task.isCancelled { throw CancellationError() }
        let isAsked = round.open(from: 0, cause, context) != nil
        // Mostly nobody has anything to say: then nothing is copied, and the clock is not read.
        guard isAsked || round.hasPermits else {
            round.wasAsked = false
            return false
        }
        let longestWait = min(state.rules.maxWait, context.remainingToSend ?? .longest)
        let isResend = if case .retry = cause { true } else { cause == .repair(name: CallState.transparentResend) }
        let failure = isResend ? outcome : nil
        let planned = PlannedAttempt(
            amended ?? request,
            cause: cause,
            after: failure,
            isDue: isDue,
            delay: delay,
            longestWait: longestWait
        )
        round.plan(planned)
        return isAsked
    }

    /// Asks those who have not let the attempt go yet, in order; the first that does not has the say.
    mutating func ask() async throws {
        guard let attempt = round.attempt else { return }
        var next = 0
        while let index = round.open(from: next, attempt.cause, context) {
            next = index + 1
            guard let said = round.take(try await round[index].admit(attempt, context: context), of: index) else {
                continue
            }
            switch said {
            case .delayed, .held, .lined:
                if let left = round.giveBack(waitingFor: index, context) { _ = await Self.carryOut(left) }
            default: break
            }
            return event = said
        }
        try Task.checkCancellation()
        event = .admitted
    }

    /// Tells all how the attempt ended.
    ///
    /// - Returns: What is left to be done about it; nil if nothing is.
    @inline(never)
    mutating func conclude(_ end: PlannedAttempt.End, _ request: HTTPRequest) -> [Admission.Remainder]? {
        hedging.hasRaced ? nil : round.conclude(planned(request), end, context)
    }

    /// The attempt that is made now, as the admissions know it.
    func planned(_ request: HTTPRequest) -> PlannedAttempt {
        if round.wasAsked, let attempt = round.attempt { return attempt }
        return PlannedAttempt(amended ?? request, cause: context.cause, longestWait: state.rules.maxWait)
    }

    /// Gives back what is left when the call ends without another attempt, or within one.
    ///
    /// - Returns: What is left to be done about it; nil if nothing is.
    @inline(never)
    mutating func abandon(_ request: HTTPRequest) -> [Admission.Remainder]? {
        round.isSent ? conclude(.abandoned, request) : round.giveBackAll(context)
    }

    /// Does what is left to be done, in order.
    ///
    /// - Returns: The gate that was closed by it last; nil if none was.
    static func carryOut(_ remainders: [Admission.Remainder]) async -> SharedState.Gate.Key? {
        var closed: SharedState.Gate.Key?
        for remainder in remainders { closed = await remainder() ?? closed }
        return closed
    }

    /// Stands in the line of an admission.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    mutating func stand(atMost limit: Duration, because outcome: Outcome) async throws -> CallState.Event {
        guard let turn = round.turn else { return .waited }
        let (time, record) = (context.runtime.time, context.record)
        let start = time.now
        context.tellOfLine(atMost: limit, reason: outcome.kind)
        defer {
            let waited = History.Wait(reason: outcome.kind, duration: start.duration(to: time.now))
            if waited.duration > .zero { record.append([.wait(waited)]) }
        }
        do {
            try await time.withTimeout(until: start.advanced(by: limit)) { try await turn.wait() }
            return .waited
        } catch is TimeoutExceeded {
            return .overdue(because: outcome)
        }
    }

    /// Stands in the queue of the gate that holds the call; how many stand in front.
    mutating func joinQueue() async -> Int {
        guard let queue = round.queue else { return 0 }
        return await context.runtime.state.joinQueue(at: queue)
    }
}
