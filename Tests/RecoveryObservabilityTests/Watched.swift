#if Observability
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import RecoveryObservability
import Tracing

/// A client with a server by a script, on a clock of its own, and all that is told of it.
struct Watched {
    let clock = ManualClock()
    let logs = InMemoryLogHandler()
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()
    let transport: ScriptedTransport
    let runtime: Runtime
    let observability: Observability
    let client: RecoveringClient

    init(
        _ steps: [ScriptedTransport.Step],
        then fallback: ScriptedTransport.Step = .status(200),
        @RecoveringClient.PipelineBuilder layers: () -> [any ClientLayer] = { RecoveringClient.defaultMiddlewares }
    ) {
        transport = ScriptedTransport(steps, then: fallback)
        runtime = .manual(clock)
        let logs = logs
        var logger = Logger(label: "test") { _ in logs }
        logger.logLevel = .trace
        logger[metadataKey: "service"] = "example"
        observability = Observability(logger: logger, metrics: metrics, tracer: tracer)
        client = RecoveringClient(
            transport: transport,
            runtime: runtime,
            observability: observability,
            middlewares: layers
        )
    }

    static let get = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/v1/me")

    @discardableResult
    func send(
        _ request: HTTPRequest = Watched.get,
        body: MessageBody? = nil,
        _ options: RequestOptions = RequestOptions()
    ) async throws -> RecoveredResponse {
        try await clock.skippingWaits { try await client.send(request, body: body, options: options) }
    }

    /// The spans of attempts, as they ended.
    var attempts: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .client } }

    /// The spans of calls, as they ended.
    var calls: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .internal } }

    /// What was logged with the message.
    func logged(_ message: Logger.Message) -> [InMemoryLogHandler.Entry] {
        logs.entries.filter { $0.message == message }
    }

    /// The durations of attempts in seconds, with the status and the failure of each.
    var durations: [String] {
        metrics.timers(label: "http.client.request.duration").flatMap { timer in
            let words = ["http.response.status_code", "error.type"].map { name in
                timer.dimensions.first { $0.0 == name }?.1 ?? "-"
            }
            return timer.values.map { "\(words[0]) \(words[1]) \(Double($0) / 1e9)" }
        }
    }

    /// How many attempts are under way.
    var activeRequests: Double? { metrics.meters(label: "http.client.active_requests").first?.lastValue }

    /// All that was told, in one text.
    var everything: String {
        let spans = tracer.finishedSpans.map { span in
            var text = span.operationName
            func add(_ name: String, _ value: SpanAttribute) { text += " \(name)=\(value)" }
            span.attributes.forEach(add)
            return text + " \(span.events) \(span.errors) \(String(describing: span.status))"
        }
        let series =
            metrics.counters.map { "\($0.label) \($0.dimensions)" }
            + metrics.timers.map { "\($0.label) \($0.dimensions)" }
            + metrics.meters.map { "\($0.label) \($0.dimensions)" }
        return "\(logs.entries) \(spans) \(series)"
    }
}

extension FinishedInMemorySpan {
    /// The attribute as text; nil if there is none.
    func text(_ name: String) -> String? {
        switch attributes.get(name) {
        case .string(let text): text
        case .int64(let number): String(number)
        case .int32(let number): String(number)
        default: nil
        }
    }
}
#endif
