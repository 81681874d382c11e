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
        guard let tracer else { return try await measured(request, body, context, next) }
        let span = tracer.startSpan(request.spanName, ofKind: .client)
        describe(span, request, context)
        let end = SpanEnd(span)
        var request = request
        tracer.inject(span.context, into: &request.headerFields, using: FieldInjector())
        do {
            let traced = request
            var response = try await ServiceContext.withValue(span.context) {
                try await measured(traced, body, context, next)
            }
            span.note(response, nil)
            span.note(response.metrics)
            // A body that is still on its way ends the span, or whoever drops it.
            if response.body.bytesInMemory == nil {
                response.body = response.body.noting(end.note)
            } else {
                end.end()
            }
            return response
        } catch {
            span.note(nil, error)
            span.note((error as? TransportError)?.metrics)
            end.end()
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

    private func measured(
        _ request: HTTPRequest,
        _ body: MessageBody?,
        _ context: CallContext,
        _ next: Next
    ) async throws -> RecoveredResponse {
        guard let meters else { return try await next(request, body: body, context: context) }
        let time = context.runtime.time
        let start = time.now
        let server = meters.dimensions(of: Server(of: request))
        let place = server + [("http.request.method", request.knownMethod)]
        meters.add(.activeRequests, 1, place)
        defer { meters.add(.activeRequests, -1, place) }
        func record(_ response: RecoveredResponse?, _ error: (any Error)?) {
            var dimensions = place
            if let response { dimensions.append(("http.response.status_code", String(response.status.code))) }
            if let type = FailureWord(response, error).errorType { dimensions.append(("error.type", type)) }
            if response?.outcome.kind == .accountLocked { meters.count(.lockouts, server) }
            meters.count(.attempts, place)
            meters.time(.requestDuration, start.duration(to: time.now), dimensions)
        }
        do {
            let response = try await next(request, body: body, context: context)
            record(response, nil)
            return response
        } catch {
            // A cancelled attempt has no duration of its own: how long it took is the canceller's doing.
            if error is CancellationError { meters.count(.attempts, place) } else { record(nil, error) }
            throw error
        }
    }
}

/// Ends a span once: when its body has ended, when that fails, or when nobody holds it any more.
private final class SpanEnd: Sendable {
    private let span: any Span
    private let isOver = Atomic(false)

    init(_ span: any Span) {
        self.span = span
    }

    func end() {
        if !isOver.exchange(true, ordering: .acquiringAndReleasing) { span.end() }
    }

    /// Takes note of a piece of the body.
    func note(_ piece: Result<MessageBody.Element?, any Error>) {
        switch piece {
        case .success(.some): return
        case .success(.none): end()
        case .failure(let error):
            span.note(nil, error)
            span.note((error as? TransportError)?.metrics)
            end()
        }
    }

    deinit { end() }
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
