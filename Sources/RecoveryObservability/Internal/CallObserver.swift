#if Observability
import HTTPRecovery
import HTTPTypes
import ServiceContextModule
import Tracing

/// The span of a call, waits and renewals included, around those of its attempts.
struct CallObserver: ClientLayer {
    private let observability: Observability
    private let engine: @Sendable () -> Recovery?

    init(_ observability: Observability, _ layers: [any ClientLayer]) {
        self.observability = observability
        let engine = layers.lazy.compactMap { $0 as? Recovery }.first
        let reloadable = layers.lazy.compactMap { $0 as? RecoveringClient.ReloadableRecovery }.first
        self.engine = { engine ?? reloadable?.recovery }
    }

    var place: CallContext.LayerPlace { .outsideRecovery }
    var summary: String { "Observability" }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let (meters, tracer) = (observability.meters, observability.tracer)
        guard meters != nil || tracer != nil else { return try await next(request, body: body, context: context) }
        var context = context
        // It stands innermost, where it sees each attempt as it goes out.
        context.options.attemptLayers.append(AttemptObserver(meters, tracer, counter: AttemptObserver.Counter()))
        defer { noteBudget(of: request, context) }
        guard let tracer else { return try await next(request, body: body, context: context) }
        let span = tracer.startSpan("http.recovery.call", ofKind: .internal)
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["http.request.method"] = request.knownMethod
            attributes["server.address"] = Server(of: request).address
            attributes["recovery.call.id"] = context.record.callID
            if let label = context.options.label { attributes["recovery.label"] = label }
        }
        do {
            let response = try await ServiceContext.withValue(span.context) {
                try await next(request, body: body, context: context)
            }
            span.note(response, nil)
            return response
        } catch {
            span.note(nil, error)
            throw error
        }
    }

    private func noteBudget(of request: HTTPRequest, _ context: CallContext) {
        guard let meters = observability.meters, let engine = engine() else { return }
        let left = engine.budgetLeft(for: request, at: context.runtime.time.now)
        if left.isFinite { meters.set(.budget, left, meters.dimensions(of: Server(of: request))) }
    }
}

extension Span {
    /// Takes note of what a call, or an attempt, has come to; cancellation is no error.
    func note(_ response: RecoveredResponse?, _ error: (any Error)?) {
        let word = FailureWord(response, error)
        updateAttributes { attributes in
            if let response { attributes["http.response.status_code"] = response.status.code }
            if let type = word.errorType { attributes["error.type"] = type }
            if let reason = (error as? RecoveryError)?.reason { attributes["recovery.reason"] = reason.rawValue }
            if error is CancellationError { attributes["recovery.result"] = "cancelled" }
        }
        if word.errorType != nil { setStatus(SpanStatus(code: .error)) }
    }
}
#endif
