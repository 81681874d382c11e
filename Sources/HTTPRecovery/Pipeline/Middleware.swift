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
