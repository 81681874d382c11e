#if Observability
import HTTPRecovery
public import Logging
public import Metrics
public import Tracing

/// Tells a service's own logs, metrics and traces what its clients do.
///
/// ```swift
/// let client = RecoveringClient(transport: transport, observability: Observability())
/// ```
///
/// The backends are looked up when it is made: `LoggingSystem`, `MetricsSystem` and `InstrumentationSystem` are
/// bootstrapped before. Nothing that it tells holds a query, userinfo, a header field or a body.
///
/// Clients may share one; each client, or each runtime that several share, is told of once.
public final class Observability: Sendable {
    private struct Watched: Sendable {
        weak var hub: RecoveryEvent.Hub?
    }

    private let log: EventLog?
    let meters: Meters?
    let tracer: (any Tracer)?
    private let watched = Locked<[Watched]>([])

    /// Creates it.
    ///
    /// - Parameters:
    ///   - logger: Where events are logged; nil is nowhere. Default: a logger of the label `http-recovery`. What is also
    ///     thrown is logged at `debug` at most.
    ///   - metrics: What makes the metrics; nil is none. Default: that of `MetricsSystem`.
    ///   - tracer: What makes the spans, and writes their context into requests; nil is none. Default: that of
    ///     `InstrumentationSystem`.
    public init(
        logger: Logger? = Logger(label: "http-recovery"),
        metrics: (any MetricsFactory)? = MetricsSystem.factory,
        tracer: (any Tracer)? = InstrumentationSystem.tracer
    ) {
        self.log = logger.map { EventLog(logger: $0) }
        self.meters = metrics.map { Meters($0) }
        self.tracer = tracer
    }

    /// Tells of the events of a hub from now on; one that is watched already is not told of twice.
    func watch(_ hub: RecoveryEvent.Hub) {
        guard log != nil || meters != nil else { return }
        let isNew = watched.withLock { watched in
            watched.removeAll { $0.hub == nil }
            if watched.contains(where: { $0.hub === hub }) { return false }
            watched.append(Watched(hub: hub))
            return true
        }
        guard isNew else { return }
        let counter = meters.map { EventCounter($0) }
        hub.observe { [log] event in
            log?.note(event)
            counter?.note(event)
        }
    }
}
#endif
