public import HTTPTypes

/// One layer around the transport.
///
/// A middleware changes the request, the response or the context and calls `next`: never (it rejects), once, or again.
/// The shape is that of swift-openapi-runtime's `ClientMiddleware`, with a context in place of the base URL.
public protocol Middleware: Sendable {
    /// Where the layer can stand; a client refuses an order that cannot work when it is built. Default: anywhere.
    var place: LayerPlace { get }

    /// Handles one call on its way out and back.
    func intercept(_ request: HTTPRequest, body: HTTPBody?, context: CallContext, next: Next) async throws -> Response
}

extension Middleware {
    /// By default a layer can stand anywhere.
    public var place: LayerPlace { .anywhere }
}

/// A layer that only sets bounds, or whatever else accompanies a call, on its way out.
///
/// It is a function of the context, so that it adds nothing to what a call costs while it waits: a client calls
/// ``adjust(_:)``, and never ``Middleware/intercept(_:body:context:next:)`` of such a layer.
public protocol ContextLayer: Middleware {
    /// Sets what accompanies the call.
    func adjust(_ context: inout CallContext)
}

extension ContextLayer {
    /// Hands the call on with the context that the layer has adjusted.
    public func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        var context = context
        adjust(&context)
        return try await next(request, body: body, context: context)
    }
}

/// The rest of the pipeline, as a middleware sees it.
public struct Next: Sendable {
    private let handler: @Sendable (HTTPRequest, HTTPBody?, CallContext) async throws -> Response
    /// The layers in front of it that only adjust the context, the outermost first.
    private var adjusters: [any ContextLayer] = []

    /// Creates the rest of a pipeline from a function; useful for testing a middleware by itself.
    public init(_ handler: @escaping @Sendable (HTTPRequest, HTTPBody?, CallContext) async throws -> Response) {
        self.handler = handler
    }

    /// Runs the rest of the pipeline.
    public func callAsFunction(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext
    ) async throws -> Response {
        guard !adjusters.isEmpty else { return try await handler(request, body, context) }
        return try await handler(request, body, adjusted(context))
    }

    @inline(never)
    private func adjusted(_ context: CallContext) -> CallContext {
        var context = context
        for layer in adjusters { layer.adjust(&context) }
        return context
    }

    /// The pipeline that has the middleware in front of this one.
    func preceded(by middleware: any Middleware) -> Next {
        if let layer = middleware as? any ContextLayer {
            var next = self
            next.adjusters.insert(layer, at: 0)
            return next
        }
        return Next { request, body, context in
            try await middleware.intercept(request, body: body, context: context, next: self)
        }
    }

    /// The pipeline that has the layers in front of this one, the outermost first.
    func preceded(by layers: [any Middleware]) -> Next {
        layers.reversed().reduce(self) { next, layer in next.preceded(by: layer) }
    }
}

/// Collects middlewares, the outermost first.
@resultBuilder
public enum PipelineBuilder {
    /// A middleware.
    public static func buildExpression(_ middleware: some Middleware) -> [any Middleware] { [middleware] }
    /// A policy, which is none.
    @available(*, unavailable, message: "a policy decides within the engine: put it into Recovery { }")
    public static func buildExpression(_ policy: some RecoveryPolicy) -> [any Middleware] { [] }
    /// An admission, which is none.
    @available(*, unavailable, message: "an admission is asked by the engine: put it into Recovery(admissions:)")
    public static func buildExpression(_ admission: some Admission) -> [any Middleware] { [] }
    /// A list of middlewares.
    public static func buildExpression(_ middlewares: [any Middleware]) -> [any Middleware] { middlewares }
    /// Several lines.
    public static func buildBlock(_ parts: [any Middleware]...) -> [any Middleware] { parts.flatMap(\.self) }
    /// `if` without `else`.
    public static func buildOptional(_ part: [any Middleware]?) -> [any Middleware] { part ?? [] }
    /// The first branch of an `if`.
    public static func buildEither(first part: [any Middleware]) -> [any Middleware] { part }
    /// The second branch of an `if`.
    public static func buildEither(second part: [any Middleware]) -> [any Middleware] { part }
    /// A loop.
    public static func buildArray(_ parts: [[any Middleware]]) -> [any Middleware] { parts.flatMap(\.self) }
}
