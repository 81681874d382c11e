#if Observability
public import HTTPRecovery

extension RecoveringClient {
    /// Creates a client that tells of what it does.
    ///
    /// - Parameters:
    ///   - transport: What performs the attempts.
    ///   - runtime: Clock, randomness, shared state, events and the classifier.
    ///   - observability: Where it is told.
    ///   - middlewares: The layers around the transport, the outermost first. Default: `RecoveringClient.defaultMiddlewares`.
    public init(
        transport: any HTTPTransport,
        runtime: Runtime = Runtime(),
        observability: Observability,
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = { RecoveringClient.defaultMiddlewares }
    ) {
        let layers = observability.observing(middlewares(), runtime)
        self.init(transport: transport, runtime: runtime) { layers }
    }
}

extension Observability {
    /// Layers that tell of what is done through them, and of the runtime's events from now on.
    package func observing(_ layers: [any ClientLayer], _ runtime: Runtime) -> [any ClientLayer] {
        watch(runtime.events)
        return [CallObserver(self, layers)] + layers
    }
}
#endif
