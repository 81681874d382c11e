import HTTPRecovery
import HTTPTypes
import Hummingbird

/// Refuses what a page of another site has a browser send.
///
/// Cookies stay behind there (``SignInCookies``); but a sign-in could be begun, and its user be led to take it for their own.
/// Browsers say where a request comes from; what says nothing is no browser's, and acts for nobody else.
struct OwnPagesAlone: RouterMiddleware {
    /// Where browsers find the backend, if a proxy has another name for it; nil if that is not known.
    let publicURL: String?

    private static let site = HTTPField.Name("Sec-Fetch-Site")

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        guard [.get, .head, .options].contains(request.method) || isOwn(request) else {
            throw HTTPError(.forbidden, message: "This comes from another site's page.")
        }
        return try await next(request, context)
    }

    private func isOwn(_ request: Request) -> Bool {
        if let site = Self.site.flatMap({ request.headers[$0] }) { return ["same-origin", "none"].contains(site) }
        guard let text = request.headers[.origin] else { return true }
        guard let origin = try? Origin(url: text) else { return false }
        // Which of the two protocols it is, a proxy in front may have changed.
        let own = ["http", "https"].map { Origin(scheme: $0, authority: request.head.authority ?? "") }
        return own.contains(origin) || origin == publicURL.flatMap { try? Origin(url: $0) }
    }
}
