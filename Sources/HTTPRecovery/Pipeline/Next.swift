public import HTTPTypes

/// The rest of the pipeline, as a middleware sees it.
public struct Next: Sendable {
    /// What a pipeline is from some point on, in one object, as each call passes it on.
    private final class Rest: Sendable {
        let target: Target
        /// The layers in front of it that only adjust the context, the outermost first.
        let adjusters: [any ContextLayer]
        /// What they do, one after the other; nil if there are none.
        ///
        /// It is a function, as a call would copy each of them.
        let adjustment: (@Sendable (inout CallContext) -> Void)?

        init(_ target: Target, adjusters: [any ContextLayer]) {
            self.target = target
            self.adjusters = adjusters
            adjustment = adjusters.reversed().reduce(nil) { Self.adjustment(by: $1, then: $0) }
        }

        private static func adjustment(
            by layer: some ContextLayer,
            then rest: (@Sendable (inout CallContext) -> Void)?
        ) -> @Sendable (inout CallContext) -> Void {
            guard let rest else { return layer.adjust }
            return { context in
                layer.adjust(&context)
                rest(&context)
            }
        }
    }

    /// A layer that has a frame of its own, and what stands behind it.
    private final class Link: Sendable {
        let layer: any ClientLayer
        let next: Next

        init(_ layer: any ClientLayer, _ next: Next) {
            self.layer = layer
            self.next = next
        }
    }

    private enum Target: Sendable {
        case layer(Link)
        case attempt(AttemptStage)
        case function(@Sendable (HTTPRequest, MessageBody?, CallContext) async throws -> RecoveredResponse)
    }

    private let rest: Rest

    private init(_ target: Target, adjusters: [any ContextLayer] = []) {
        rest = Rest(target, adjusters: adjusters)
    }

    /// Creates the rest of a pipeline from a function; useful for testing a middleware by itself.
    public init(
        _ handler: @escaping @Sendable (HTTPRequest, MessageBody?, CallContext) async throws -> RecoveredResponse
    ) {
        self.init(.function(handler))
    }

    /// The end of a pipeline.
    init(_ stage: AttemptStage) {
        self.init(.attempt(stage))
    }

    /// The pipeline that has the layers in front of this one, the outermost first.
    func preceded(by layers: [any ClientLayer]) -> Next {
        layers.reversed().reduce(self) { next, layer in
            guard let adjuster = layer as? any ContextLayer else { return Next(.layer(Link(layer, next))) }
            return Next(next.rest.target, adjusters: [adjuster] + next.rest.adjusters)
        }
    }

    /// The layers that are left, the outermost first.
    var layers: [any ClientLayer] {
        guard case .layer(let link) = rest.target else { return rest.adjusters }
        return rest.adjusters + [link.layer] + link.next.layers
    }

    /// Whether both are the same rest of the same pipeline.
    func isSame(as other: Next) -> Bool { rest === other.rest }

    /// Whether a call can go straight to its attempt: past layers that adjust the context, and those that say so.
    var isStraight: Bool {
        switch rest.target {
        case .layer(let link): (link.layer as? any StraightLayer)?.isStraight == true && link.next.isStraight
        case .attempt: true
        case .function: false
        }
    }

    /// Runs the rest of the pipeline.
    public func callAsFunction(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext
    ) async throws -> RecoveredResponse {
        var context = context
        adjust(&context)
        return try await run(request, body: body, adjusted: context)
    }

    /// Has the layers adjust the context that do nothing else.
    @inline(never)
    func adjust(_ context: inout CallContext) {
        rest.adjustment?(&context)
    }

    /// Runs the rest of the pipeline with a context that is adjusted already.
    ///
    /// It is part of the caller's frame, so that a layer adds no more than its own to a call that waits.
    @inline(__always)
    func run(_ request: HTTPRequest, body: MessageBody?, adjusted context: CallContext) async throws
        -> RecoveredResponse
    {
        switch rest.target {
        case .layer(let link):
            try await link.layer.intercept(request, body: body, context: context, next: link.next)
        case .attempt(let stage): try await stage(request, body: body, context: context)
        case .function(let handler): try await handler(request, body, context)
        }
    }
}
