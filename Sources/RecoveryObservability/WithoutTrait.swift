#if !Observability
public import HTTPRecovery

/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"Observability\"])")
public struct Observability {
    /// Cannot be called.
    public init() {}

    /// Cannot be called.
    public init<Log, Metrics, Trace>(logger: Log, metrics: Metrics, tracer: Trace) {}

    /// Cannot be called.
    public init<Log>(logger: Log) {}
}

extension RecoveringClient {
    /// Cannot be called.
    @available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"Observability\"])")
    public init(
        transport: any HTTPTransport,
        runtime: Runtime = Runtime(),
        observability: Observability,
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = { RecoveringClient.defaultMiddlewares }
    ) {
        self.init(transport: transport, runtime: runtime, middlewares: middlewares)
    }
}
#endif
