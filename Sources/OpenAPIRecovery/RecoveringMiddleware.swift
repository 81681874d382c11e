#if OpenAPI
public import HTTPRecovery
public import HTTPTypes
public import OpenAPIRuntime

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Recovery around the transport and the middlewares that a generated client has already.
///
/// ```swift
/// let api = Client(serverURL: url, transport: transport, middlewares: [RecoveringMiddleware()])
/// ```
///
/// What stands behind it in the list sees each attempt, what stands before it the operation as a whole. What the
/// transport throws does not tell whether the server has seen the request, so it counts as unknown: what is not
/// idempotent is not sent again after it. ``RecoveringTransport`` with a transport of this package knows more.
///
/// With the package's trait `Observability` logs, metrics and spans are told of it by `RecoveringMiddleware(observability:)`.
public struct RecoveringMiddleware: ClientMiddleware {
    /// Clock, randomness, shared state, events and the classifier.
    public let runtime: Runtime
    private let layers: [any ClientLayer]
    private let rules: RecoveringTransport.Rules

    /// Creates a middleware.
    ///
    /// - Parameters:
    ///   - runtime: Clock, randomness, shared state, events and the classifier.
    ///   - rules: What single operations want to be treated differently. Default: nothing.
    ///   - layers: The layers around the transport, the outermost first. Default:
    ///     `RecoveringClient.defaultMiddlewares`. What cannot work ends the program, as in a client.
    public init(
        runtime: Runtime = Runtime(),
        rules: RecoveringTransport.Rules = RecoveringTransport.Rules(),
        @RecoveringClient.PipelineBuilder layers: () -> [any ClientLayer] = { RecoveringClient.defaultMiddlewares }
    ) {
        self.runtime = runtime
        self.rules = rules
        self.layers = layers()
        // As a client does it, and not with the first operation.
        if let problem = CallContext.LayerPlace.problem(in: self.layers) { fatalError(problem) }
    }

    /// The events from now on, of all calls of the runtime; each read has events of its own.
    ///
    /// The newest 1024 that nobody has read yet are kept.
    public var events: AsyncStream<RecoveryEvent> { runtime.events.stream() }

    /// Sends an operation, with as many attempts through the rest of the list as it takes.
    ///
    /// A deadline ends the call as soon as what is under way in the transport heeds its cancellation.
    ///
    /// - Throws: `RecoveryError`, which the generated client hands on as `ClientError.underlyingError`;
    ///   `CancellationError` when the task is cancelled, in the same place.
    public func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String,
        next: @concurrent @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let target = try OperationTarget(request, baseURL: baseURL)
        let attempts = AttemptQueue(target)
        // What layers know of other calls is in the layers and in the runtime.
        let client = RecoveringClient(transport: attempts, runtime: runtime) { layers }
        // Leaving the function cancels it and what it has under way: nothing outlives what it was lent, and nobody waits
        // for an attempt that another has overtaken.
        async let _ = attempts.serve(next)
        do {
            return try await rules.send(target.request, body: body, operationID: operationID, by: client)
        } catch var error as RecoveryError where error.outcome.transportError?.code == .other {
            error.cause = error.cause ?? attempts.lastError
            throw error
        }
    }
}
#endif
