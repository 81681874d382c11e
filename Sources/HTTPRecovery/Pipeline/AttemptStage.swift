import HTTPTypes

/// The end of the pipeline: one attempt through the transport, judged.
///
/// It counts the attempt, tells it to those who watch, keeps the transport within the time that is left, reads as much
/// of the body as the call wants judged, and classifies the result. What needs no waiting stands in functions that are
/// not asynchronous, so that a waiting attempt holds little.
final class AttemptStage: Sendable {
    /// The most that is read of an error's body when the call wants its responses streamed.
    private static let errorBodyLimit = 65_536

    /// An attempt that is under way.
    private struct Attempt {
        let number: Int
        let start: TimeSource.Instant
    }

    private let transport: any HTTPTransport

    /// - Parameter transport: What performs the attempts, and keeps their time.
    init(transport: any HTTPTransport) {
        self.transport = transport
    }

    /// Makes the attempt, behind the layers of the call itself, which are few and mostly none; only they are folded per
    /// attempt.
    ///
    /// - Throws: `RecoveryError` if the layers of the call cannot work.
    func callAsFunction(_ request: HTTPRequest, body: MessageBody?, context: CallContext) async throws
        -> RecoveredResponse
    {
        guard context.options.hasAttemptLayers || !context.usesTransportAsItIs else {
            return try await perform(request, body: body, context: context)
        }
        return try await layered(context)(request, body: body, context: context)
    }

    @inline(never)
    private func layered(_ context: CallContext) throws -> Next {
        let layers = context.options.attemptLayers
        if let problem = CallContext.LayerPlace.problem(in: [], attemptLayers: layers) {
            var outcome = Outcome(.misconfigured, processed: .no, remedies: [.fixRequest])
            outcome.message = problem
            let reason = History.StopReason.notRecoverable
            throw RecoveryError(after: outcome, reason: reason, needed: nil, response: nil, context: context)
        }
        return Next(end(context).perform).preceded(by: layers)
    }

    /// The end of a pipeline with what a layer has put in front of the transport, and what ends an attempt of which nothing
    /// moves.
    private func end(_ context: CallContext) -> AttemptStage {
        if context.usesTransportAsItIs { return self }
        var transport = context.interposition?(transport) ?? transport
        if let limit = context.idleTimeout {
            transport = IdleTransport(transport, limit: limit, time: context.runtime.time)
        }
        return AttemptStage(transport: transport)
    }

    @inline(__always)
    private func perform(_ request: HTTPRequest, body: MessageBody?, context: CallContext) async throws
        -> RecoveredResponse
    {
        let attempt = try begin(request, context)
        do {
            let options = try options(for: context, from: attempt.start)
            let received = try await transport.send(request, body: body, options: options)
            guard let limit = note(received, of: attempt, context) else {
                return judge(received, request, attempt, context)
            }
            return try await judge(received, readingUpTo: limit, request, attempt, context)
        } catch {
            throw failed(error, request, attempt, context)
        }
    }

    /// - Throws: `CancellationError` in a cancelled task: a layer may have taken its time over it.
    @inline(never)
    private func begin(_ request: HTTPRequest, _ context: CallContext) throws -> Attempt {
        if Task.isCancelled { throw CancellationError() }
        let number = context.record.beginAttempt(presenting: context.presentation)
        if context.isObserved { tell(of: number, request, context) }
        // Nothing has taken any time since the call began: the clock is dear, and was read then.
        return Attempt(number: number, start: context.isStraight ? context.record.start : context.runtime.time.now)
    }

    @inline(never)
    private func tell(of number: Int, _ request: HTTPRequest, _ context: CallContext) {
        let (method, url) = (request.method.rawValue, request.redactedURL)
        context.emit(.attempt(number: number, method: method, url: url, transport: transport.name))
    }

    @inline(never)
    private func tell(of head: HTTPResponse, _ attempt: Attempt, _ context: CallContext) {
        let elapsed = attempt.start.duration(to: context.surroundings.runtime.time.now)
        context.emit(.response(number: attempt.number, status: head.status.code, elapsed: elapsed))
    }

    /// Takes note of the head of a response.
    ///
    /// - Returns: How much of the body is to be waited for; nil if it is there already, or wanted as a stream.
    @inline(never)
    private func note(_ received: TransportResponse, of attempt: Attempt, _ context: CallContext) -> Int? {
        if context.isObserved { tell(of: received.head, attempt, context) }
        if received.body.isInMemory { return nil }
        // While the body comes, the head is known already.
        context.record.receivedHead = received.head
        let buffering = context.options.buffering
        guard buffering == .streamed else { return buffering.limit }
        return received.head.status.kind == .successful ? nil : Self.errorBodyLimit
    }

    /// Classifies a response by the beginning of its body, for which it waits.
    @inline(never)
    private func judge(
        _ received: TransportResponse,
        readingUpTo limit: Int,
        _ request: HTTPRequest,
        _ attempt: Attempt,
        _ context: CallContext
    ) async throws -> RecoveredResponse {
        let beginning = try await BodyReader.beginning(of: received, upTo: limit)
        return judge(beginning, of: received, request, attempt, context)
    }

    /// Classifies a response by the beginning of its body.
    @inline(never)
    private func judge(
        _ beginning: BodyReader.Beginning,
        of received: TransportResponse,
        _ request: HTTPRequest,
        _ attempt: Attempt,
        _ context: CallContext
    ) -> RecoveredResponse {
        var received = received
        received.body = beginning.body
        var response = judge(received, by: beginning.bytes, request, attempt, context)
        // Nobody reads on in an error's body, which may be endless: what was read of it is kept.
        if response.outcome.isFailure { response.body = MessageBody(beginning.bytes.prefix(beginning.limit)) }
        return response
    }

    /// Classifies a response whose body is there already, or is not looked at.
    @inline(never)
    private func judge(
        _ received: consuming TransportResponse,
        by bytes: [UInt8]? = nil,
        _ request: HTTPRequest,
        _ attempt: Attempt,
        _ context: CallContext
    ) -> RecoveredResponse {
        let now = context.surroundings.runtime.time.now
        let (status, plain) = Self.look(at: received, context)
        let outcome = plain ?? classify(received, by: bytes, request, at: now, status, context)
        let elapsed = attempt.start.duration(to: now)
        let step = step(outcome, of: attempt, taking: elapsed, context)
        var response = RecoveredResponse(received, outcome)
        context.record.append(step, AttemptTimes(elapsed: elapsed, end: now.sinceStart), to: &response)
        if response.isFailure { context.emit(.failure(number: attempt.number, response.outcome)) }
        return response
    }

    /// What needs no closer look; apart, as the head of what is handed on would be copied for it.
    @inline(never)
    private static func look(at received: TransportResponse, _ context: CallContext) -> (status: Int, plain: Outcome?) {
        let status = received.head.status.code
        return (status, context.plainOutcome(of: received.head, status: status))
    }

    @inline(never)
    private func classify(
        _ received: TransportResponse,
        by bytes: [UInt8]?,
        _ request: HTTPRequest,
        at now: TimeSource.Instant,
        _ status: Int,
        _ context: CallContext
    ) -> Outcome {
        let bytes = bytes ?? Array(received.body.bytesInMemory ?? [])
        let result = Exchange.Result.response(received.head, body: bytes)
        var outcome = context.classify(result, for: request, at: now, context.presentation)
        outcome.status = status
        switch status {
        // The first request with the key is still under way (draft-ietf-httpapi-idempotency-key-header, section 2.6).
        case 409 where outcome.kind == .conflict && request.headerFields.contains(.idempotencyKey):
            if !outcome.remedies.contains(.wait) { outcome.remedies = [.retry] }
        default: break
        }
        outcome.keepOnce(after: context.record.history)
        return outcome
    }

    /// Takes note of an attempt that had no (complete) response.
    ///
    /// - Returns: The error to throw.
    @inline(never)
    private func failed(
        _ error: any Error,
        _ request: HTTPRequest,
        _ attempt: Attempt,
        _ context: CallContext
    ) -> any Error {
        guard var error = error as? TransportError else { return error }
        // A transport that is cancelled may report its own side of it; cancellation is never a failure.
        if Task.isCancelled { return CancellationError() }
        // Whether another attempt can be in time: one that a layer has bounded gets a fresh proof, what the call itself
        // is bounded by stays over.
        if error.code == .sendLimitPassed {
            error.isTransient = context.sendBy != nil && !(context.callLimit.map(transport.isTooLate) ?? false)
        }
        let outcome = context.outcome(of: error, for: request)
        let now = context.runtime.time.now
        let elapsed = attempt.start.duration(to: now)
        let times = AttemptTimes(elapsed: elapsed, end: now.sinceStart)
        context.record.append(step(outcome, of: attempt, taking: elapsed, context), times)
        if outcome.isFailure { context.emit(.failure(number: attempt.number, outcome)) }
        return error
    }

    /// What stands of an attempt in the history.
    private func step(
        _ outcome: Outcome,
        of attempt: Attempt,
        taking elapsed: Duration,
        _ context: CallContext
    ) -> [History.Step] {
        let attempt = History.Attempt(
            number: attempt.number,
            cause: context.cause,
            kind: outcome.kind,
            status: outcome.status,
            code: outcome.code,
            processed: outcome.processed,
            elapsed: elapsed
        )
        return [.attempt(attempt)]
    }

    /// The time that the transport has.
    ///
    /// - Throws: `TransportError` if none is left.
    @inline(never)
    private func options(for context: CallContext, from start: TimeSource.Instant) throws -> AttemptOptions {
        let time = context.attemptTime(from: start)
        var options = AttemptOptions(time)
        // What is streamed is not read before somebody wants it.
        options.awaitedBytes = UInt32(clamping: context.options.buffering.limit)
        if !context.isAsMade, case .retry = context.cause {
            options.isOnNewConnection = context.record.wasWronglyConnected
        }
        if context.mayHaveSendLimit, let limit = context.sendLimit {
            options.sendLimit = limit
            try transport.checkSendLimit(of: options)
        }
        if time.isOver {
            throw TransportError(.timedOut, .neverSent, message: "the time was over before the request was sent")
        }
        return options
    }
}
