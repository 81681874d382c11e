import HTTPTypes

/// The end of the pipeline: one attempt through the transport, judged.
///
/// It counts the attempt, tells it to those who watch, keeps the transport within the time that is left, reads as much
/// of the body as the call wants judged, and classifies the result.
struct AttemptStage: Sendable {
    /// The most that is read of an error's body when the call wants its responses streamed.
    private static let errorBodyLimit = 65_536

    let transport: any HTTPTransport

    var next: Next {
        Next { request, body, context in
            try await perform(request, body: body, context: context)
        }
    }

    private func perform(_ request: HTTPRequest, body: HTTPBody?, context: CallContext) async throws -> Response {
        let number = context.record.beginAttempt(presenting: context.presented, orNothing: context.presentsNothing)
        let start = context.runtime.time.now
        context.emit(
            .attempt(
                number: number,
                method: request.method.rawValue,
                url: request.redactedURL,
                transport: transport.name
            )
        )
        do {
            let received = try await send(request, body: body, context: context)
            context.record.receivedHead = received.head
            let elapsed = start.duration(to: context.runtime.time.now)
            context.emit(.response(number: number, status: received.head.status.code, elapsed: elapsed))
            var response = try await judge(received, for: request, context: context)
            record(response.outcome, number: number, since: start, context: context)
            // For every layer, those outside the engine too.
            response.history = context.record.history
            return response
        } catch let error as TransportError {
            // A transport that is cancelled may report its own side of it; cancellation is never a failure.
            try Task.checkCancellation()
            let error = completing(error, context)
            record(context.outcome(of: error, for: request), number: number, since: start, context: context)
            throw error
        }
    }

    private func record(_ outcome: Outcome, number: Int, since start: TimeSource.Instant, context: CallContext) {
        context.record.append(
            .attempt(
                History.Attempt(
                    number: number,
                    cause: context.cause,
                    kind: outcome.kind,
                    status: outcome.status,
                    code: outcome.code,
                    processed: outcome.processed,
                    elapsed: start.duration(to: context.runtime.time.now)
                )
            )
        )
        if outcome.isFailure { context.emit(.failure(number: number, outcome)) }
    }

    /// Reads the beginning of the body and classifies the response.
    private func judge(
        _ received: TransportResponse,
        for request: HTTPRequest,
        context: CallContext
    ) async throws -> Response {
        var response = Response(head: received.head, body: received.body)
        var bytes: [UInt8] = []
        var isWhole = true
        let isStreamed = context.options.buffering == .streamed
        let limit = isStreamed ? Self.errorBodyLimit : context.options.buffering.limit
        if let inMemory = received.body.bytesInMemory {
            bytes = Array(inMemory)
        } else if !(isStreamed && received.head.status.kind == .successful) {
            let reader = BodyReader(received.body)
            let beginning = await reader.read(upTo: limit)
            if beginning.error is CancellationError { throw CancellationError() }
            // What a refusal states in its head holds, even if its body breaks off.
            if let error = beginning.error, received.head.status.code < 400 { throw TransportError(ofBody: error) }
            try Task.checkCancellation()
            (bytes, isWhole) = (beginning.bytes, beginning.isWhole)
            response.body =
                isWhole
                ? HTTPBody(bytes) : HTTPBody(prefix: bytes, rest: reader, length: received.body.length)
        }
        response.outcome = context.classify(.response(received.head, body: bytes), for: request)
        response.outcome.status = received.head.status.code
        // Nobody reads on in an error's body, which may be endless: what was read of it is kept.
        if response.outcome.isFailure, !isWhole { response.body = HTTPBody(bytes.prefix(limit)) }
        return response
    }

    /// Whether a request with the limit is not handed over any more.
    private func isOver(_ limit: SendLimit) -> Bool {
        limit.isReached(in: transport.keepsSendLimits ? .zero : SendLimit.margin)
    }

    /// Says of a request that was too late whether another attempt can be in time: one that a layer has bounded gets a
    /// fresh proof, what the call itself is bounded by stays over.
    private func completing(_ error: TransportError, _ context: CallContext) -> TransportError {
        guard error.code == .sendLimitPassed else { return error }
        var error = error
        error.isTransient = context.sendBy != nil && !(context.callLimit.map(isOver) ?? false)
        return error
    }

    /// Hands the request to the transport within the time that is left.
    private func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext
    ) async throws -> TransportResponse {
        let time = context.runtime.time
        var options = AttemptOptions(sendLimit: context.sendLimit)
        if let limit = options.sendLimit, isOver(limit) {
            throw TransportError(.sendLimitPassed, .neverSent, message: "it was too late to send the request")
        }
        // No client waits for ever because nobody has thought of it.
        let ofAttempt = context.attemptTimeout ?? AttemptTimeout.standard
        let timeout: Duration
        switch (ofAttempt < .longest ? ofAttempt : nil, context.remaining) {
        case (nil, nil): return try await transport.send(request, body: body, options: options)
        case (let limit?, nil), (nil, let limit?): timeout = limit
        case (let first?, let second?): timeout = min(first, second)
        }
        guard timeout > .zero else {
            throw TransportError(.timedOut, .neverSent, message: "the time was over before the request was sent")
        }
        options.timeout = timeout
        if transport.enforcesTimeouts {
            return try await transport.send(request, body: body, options: options)
        }
        let end = time.now.advanced(by: timeout)
        do {
            var response = try await time.withCutoff(at: end) { [transport, options] in
                try await transport.send(request, body: body, options: options)
            }
            response.body = response.body.limited(until: end, time: time)
            return response
        } catch is TimeoutExceeded {
            throw TransportError(.timedOut, .unknown, message: "no answer came in time")
        }
    }
}
