#if OpenAPI && Observability
public import HTTPRecovery
public import RecoveryObservability

extension RecoveringMiddleware {
    /// Creates a middleware that tells of what it does.
    ///
    /// The span of an attempt is around the rest of the list and the transport, and its context is in the request that they get.
    ///
    /// - Parameters:
    ///   - runtime: Clock, randomness, shared state, events and the classifier.
    ///   - rules: What single operations want to be treated differently. Default: nothing.
    ///   - observability: Where it is told.
    ///   - layers: The layers around the transport, the outermost first. Default:
    ///     `RecoveringClient.defaultMiddlewares`. What cannot work ends the program, as in a client.
    public init(
        runtime: Runtime = Runtime(),
        rules: RecoveringTransport.Rules = RecoveringTransport.Rules(),
        observability: Observability,
        @RecoveringClient.PipelineBuilder layers: () -> [any ClientLayer] = { RecoveringClient.defaultMiddlewares }
    ) {
        let layers = observability.observing(layers(), runtime)
        self.init(runtime: runtime, rules: rules) { layers }
    }
}
#endif
