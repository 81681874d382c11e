import HTTPTypes

/// Most calls are over with their first attempt, and pay for no driver: it goes out without one if nobody has anything
/// to say to it. If it comes to anything but a plain success, a driver takes it over as its first attempt.
extension CallDriver {
    /// Sends a call for an engine.
    @inline(__always)
    static func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next,
        by engine: Recovery
    ) async throws -> RecoveredResponse {
        guard try engine.needsNoDriver(context) else {
            return try await drive(request, body, context, next, by: engine, firstResult: nil)
        }
        let inner = engine.inner(context, next)
        let firstResult: Result<RecoveredResponse, any Error>
        do {
            let response = try await next.run(request, body: body, adjusted: inner)
            if response.isOwnSuccess {
                if let left = engine.conclude(response, request, inner) { _ = await carryOut(left) }
                return response
            }
            firstResult = .success(response)
        } catch {
            // What was cancelled before it began has never been.
            if error is CancellationError, context.isStraight, context.record.attempts == 0 { throw error }
            firstResult = .failure(error)
        }
        return try await drive(request, body, context, next, by: engine, firstResult: firstResult)
    }

    /// Goes on with a call.
    ///
    /// - Parameter early: What the first attempt has come to; nil if there was none.
    @inline(never)
    private static func drive(
        _ request: HTTPRequest,
        _ body: MessageBody?,
        _ context: CallContext,
        _ next: Next,
        by engine: Recovery,
        firstResult: Result<RecoveredResponse, any Error>?
    ) async throws -> RecoveredResponse {
        var call = engine.driver(request, context)
        call.firstResult = firstResult
        return try await call(request, body: body, next: next)
    }
}

extension Recovery: StraightLayer {
    /// Attempts beside the first have records of their own, which have to come together.
    var isStraight: Bool { hedging == nil }

    /// Whether the first attempt can go out without further ado: no rules but the engine's, and nobody who has anything
    /// to say to it.
    ///
    /// - Throws: `CancellationError` in a cancelled task.
    @inline(never)
    fileprivate func needsNoDriver(_ context: CallContext) throws -> Bool {
        // The attempt itself looks as well, and is the next thing to come.
        if !context.isStraight, Task.isCancelled { throw CancellationError() }
        return hedging == nil && context.hasNothingOfItsOwn
            && !all.indices.contains { all[$0].mayHold(.call, context: context) }
    }

    /// The context of an attempt that is made without a driver.
    @inline(never)
    fileprivate func inner(_ context: CallContext, _ next: Next) -> CallContext {
        var context = context
        context.boundWaits(to: rules.longestWait)
        next.adjust(&context)
        return context
    }

    /// Tells all that the call is over with its first attempt.
    ///
    /// - Returns: What is left to be done about it; nil if nothing is.
    @inline(never)
    fileprivate func conclude(
        _ response: RecoveredResponse,
        _ request: HTTPRequest,
        _ context: CallContext
    ) -> [Admission.Remainder]? {
        var attempt = PlannedAttempt(request, longestWait: rules.maxWait)
        // What a layer hands out may have come of another attempt.
        attempt.times = context.isStraight ? response.times : nil
        let end = PlannedAttempt.End.ended(response.outcome)
        var left: [Admission.Remainder]?
        for index in all.indices {
            guard let remainder = all[index].observe(attempt, end, context: context) else { continue }
            left = (left ?? []) + [remainder]
        }
        return left
    }
}
