public import HTTPTypes

/// One layer around the transport.
///
/// A middleware changes the request, the response or the context and calls `next`: never (it rejects), once, or again.
/// The shape is that of swift-openapi-runtime's `ClientMiddleware`, with a context in place of the base URL.
public protocol ClientLayer: Sendable {
    /// Where the layer can stand; a client refuses an order that cannot work when it is built. Default: anywhere.
    var place: CallContext.LayerPlace { get }

    /// What the layer does and within which bounds, in a few words, as it stands in a client's description. Default: the
    /// name of its type.
    var summary: String { get }

    /// Why the layer cannot work as it was made, or among the others, as a sentence; a client refuses it when it is built.
    /// Default: nil, it can.
    ///
    /// - Parameter layers: All layers, the outermost first.
    func problem(among layers: [any ClientLayer]) -> String?

    /// Whether the layer, if it accompanies a call (``RequestOptions/attemptLayers``), goes with it where a redirect leads to
    /// another origin. Default: false, as a layer could give away there what is meant for the first.
    var followsToOtherOrigins: Bool { get }

    /// Whether several attempts of a call may be in it at the same time, as hedges are; a call is not hedged if one of its
    /// layers cannot bear that, and a client refuses such a layer inside an engine that hedges. Default: true.
    var bearsHedges: Bool { get }

    /// Handles one call on its way out and back.
    func intercept(_ request: HTTPRequest, body: MessageBody?, context: CallContext, next: Next) async throws
        -> RecoveredResponse
}

extension ClientLayer {
    /// By default a layer can stand anywhere.
    public var place: CallContext.LayerPlace { .anywhere }

    /// By default nothing stands against a layer.
    public func problem(among layers: [any ClientLayer]) -> String? { nil }

    /// By default a layer stays at the origin for which it was given.
    public var followsToOtherOrigins: Bool { false }

    /// By default several attempts may be in a layer at the same time.
    public var bearsHedges: Bool { true }

    /// By default the name of the type.
    public var summary: String { "\(type(of: self))" }
}

/// A layer that only sets bounds, or whatever else accompanies a call, on its way out.
///
/// It is a function of the context, so that it adds nothing to what a call costs while it waits: a client calls
/// ``adjust(_:)``, and never ``ClientLayer/intercept(_:body:context:next:)`` of such a layer.
public protocol ContextLayer: ClientLayer {
    /// Sets what accompanies the call.
    func adjust(_ context: inout CallContext)
}

extension ContextLayer {
    /// Hands the call on with the context that the layer has adjusted.
    public func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var context = context
        adjust(&context)
        return try await next(request, body: body, context: context)
    }
}
