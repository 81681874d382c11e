public import HTTPTypes

/// Bounds a whole call: queueing, attempts, waits, repairs and the response body.
public struct Deadline: Middleware {
    /// The time a call may take.
    public var limit: Duration

    /// Creates the guard.
    public init(_ limit: Duration) {
        self.limit = limit
    }

    /// Sets the call's deadline, unless an earlier one stands.
    public func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        var context = context
        let deadline = context.runtime.time.now.advanced(by: max(limit, .zero))
        context.deadline = context.deadline.map { min($0, deadline) } ?? deadline
        return try await next(request, body: body, context: context)
    }
}
