#if !Observability
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
#endif
