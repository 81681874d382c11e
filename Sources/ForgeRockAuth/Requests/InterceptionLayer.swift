import HTTPRecovery
import HTTPTypes

/// Lets the app's interceptors change each attempt.
struct InterceptionLayer: ClientLayer {
    let interceptors: [any ForgeRockInterceptor]
    let action: ForgeRockAction
    let journey: String?

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var request = request
        for interceptor in interceptors {
            request = try await interceptor.intercept(request, action: action, journey: journey)
        }
        return try await next(request, body: body, context: context)
    }
}
