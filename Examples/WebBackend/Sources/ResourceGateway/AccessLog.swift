import Hummingbird
import Logging

/// Logs each request with its status and its time; no query, header field or body.
struct AccessLog<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        func log(_ status: HTTPResponse.Status) {
            // Whoever looks after the service asks all the time.
            let isProbe = request.uri.path.hasPrefix("/health") || request.uri.path == "/metrics"
            context.logger.log(
                level: isProbe && status.code < 400 ? .debug : .info,
                "Request",
                metadata: [
                    "http.request.method": "\(request.method)", "url.path": "\(request.uri.path)",
                    "http.response.status_code": "\(status.code)",
                    "elapsed": "\((ContinuousClock.now - start) / .seconds(1))",
                ]
            )
        }
        do {
            let response = try await next(request, context)
            log(response.status)
            return response
        } catch {
            log((error as? any HTTPResponseError)?.status ?? .internalServerError)
            throw error
        }
    }
}
