public import HTTPTypes

/// Bounds each attempt, its response body included.
public struct AttemptTimeout: Middleware {
    /// The time an attempt may take.
    public var limit: Duration

    /// Creates the guard.
    public init(_ limit: Duration) {
        self.limit = limit
    }

    /// Sets the attempt's timeout, unless a shorter one stands.
    public func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        var context = context
        context.attemptTimeout = min(context.attemptTimeout ?? limit, limit)
        return try await next(request, body: body, context: context)
    }
}
