#if Observability
import HTTPRecovery
import HTTPTypes
import ServiceContextModule
import Synchronization
import Tracing

/// The span and the metrics of one attempt, and the context of the trace in its request.
struct AttemptObserver: ClientLayer {
    /// Counts the attempts of one call, of which several may be under way.
    final class Counter: Sendable {
        private let count = Atomic(0)

        /// How many attempts there were before.
        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    private let meters: Meters?
    private let tracer: (any Tracer)?
    private let counter: Counter

    init(_ meters: Meters?, _ tracer: (any Tracer)?, counter: Counter) {
        self.meters = meters
        self.tracer = tracer
        self.counter = counter
    }

    var place: CallContext.LayerPlace { .insideRecovery }
    /// It gives nothing away: what it adds is made for each request.
    var followsToOtherOrigins: Bool { true }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let span = tracer?.startSpan(request.spanName, ofKind: .client)
        var request = request
        if let tracer, let span {
            describe(span, request, context)
            tracer.inject(span.context, into: &request.headerFields, using: FieldInjector())
        }
        let end = AttemptEnd(span, meters.map { AttemptMeasure($0, request, context.runtime.time) })
        do {
            let sent = request
            var response =
                if let span {
                    try await ServiceContext.withValue(span.context) {
                        try await next(sent, body: body, context: context)
                    }
                } else {
                    try await next(sent, body: body, context: context)
                }
            end.arrive(response)
            // A body that is still on its way ends the attempt, or whoever drops it.
            if response.body.bytesInMemory == nil {
                response.body = response.body.noting(end.note)
            } else {
                end.end()
            }
            return response
        } catch {
            end.end(error)
            throw error
        }
    }

    private func describe(_ span: any Span, _ request: HTTPRequest, _ context: CallContext) {
        let server = Server(of: request)
        let resends = counter.next()
        span.updateAttributes { attributes in
            attributes["http.request.method"] = request.knownMethod
            if request.knownMethod == HTTPRequest.otherMethod {
                attributes["http.request.method_original"] = request.method.rawValue
            }
            attributes["server.address"] = server.address
            attributes["server.port"] = server.port
            attributes["url.full"] = request.redactedURL
            attributes["recovery.call.id"] = context.record.callID
            attributes["recovery.cause"] = "\(context.cause)"
            if resends > 0 { attributes["http.request.resend_count"] = resends }
        }
    }
}

/// Ends the span and the metrics of an attempt once, and alike: when its body has ended, when that fails, or when nobody
/// holds it any more.
private final class AttemptEnd: Sendable {
    /// What is told of an answer when its body has ended.
    struct Answer {
        let status: Int
        let errorType: String?
    }

    private let span: (any Span)?
    private let measure: AttemptMeasure?
    private let answer = Locked<Answer?>(nil)
    private let isOver = Atomic(false)

    init(_ span: (any Span)?, _ measure: AttemptMeasure?) {
        self.span = span
        self.measure = measure
    }

    /// Takes note of an answer, whose body may still be on its way.
    func arrive(_ response: RecoveredResponse) {
        measure?.arrive(response)
        span?.note(response, nil)
        span?.note(response.metrics)
        let new = Answer(status: response.status.code, errorType: FailureWord(response, nil).errorType)
        answer.withLock { $0 = new }
    }

    func end(_ error: (any Error)? = nil) {
        if isOver.exchange(true, ordering: .acquiringAndReleasing) { return }
        if let error {
            span?.note(nil, error)
            span?.note((error as? TransportError)?.metrics)
        }
        measure?.end(answer.withLock { $0 }, error)
        span?.end()
    }

    /// Takes note of a piece of the body.
    func note(_ piece: Result<MessageBody.Element?, any Error>) {
        switch piece {
        case .success(.some): return
        case .success(.none): end()
        case .failure(let error): end(error)
        }
    }

    deinit { end() }
}

/// The metrics of an attempt.
private struct AttemptMeasure: Sendable {
    private let meters: Meters
    private let time: TimeSource
    private let start: TimeSource.Instant
    private let server: Meters.Dimensions
    private let place: Meters.Dimensions

    /// Begins one.
    init(_ meters: Meters, _ request: HTTPRequest, _ time: TimeSource) {
        self.meters = meters
        self.time = time
        start = time.now
        server = meters.dimensions(of: Server(of: request))
        place = server + [("http.request.method", request.knownMethod)]
        meters.add(.activeRequests, 1, place)
    }

    func arrive(_ response: RecoveredResponse) {
        if response.outcome.kind == .accountLocked { meters.count(.lockouts, server) }
    }

    func end(_ answer: AttemptEnd.Answer?, _ error: (any Error)?) {
        meters.add(.activeRequests, -1, place)
        meters.count(.attempts, place)
        // A cancelled attempt has no duration of its own: how long it took is the canceller's doing.
        if error is CancellationError { return }
        var dimensions = place
        if let answer { dimensions.append(("http.response.status_code", String(answer.status))) }
        // A body that breaks fails the attempt, whatever its head has said.
        if let type = FailureWord(nil, error).errorType ?? answer?.errorType { dimensions.append(("error.type", type)) }
        meters.time(.requestDuration, start.duration(to: time.now), dimensions)
    }
}

extension Span {
    /// Tells the connection by the names of OpenTelemetry's conventions, if the transport measures it.
    fileprivate func note(_ metrics: History.AttemptMetrics?) {
        guard let metrics else { return }
        updateAttributes { attributes in
            if let version = metrics.httpVersion { attributes["network.protocol.version"] = version }
            if let address = metrics.remoteAddress { attributes["network.peer.address"] = address }
            if let port = metrics.remotePort { attributes["network.peer.port"] = port }
        }
    }
}

/// Writes what belongs to the trace into the header fields of a request.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key), HTTPField.isValidValue(value) else { return }
        fields[name] = value
    }
}
#endif
