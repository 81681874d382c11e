import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Where the Frontend API is: an origin, and the path that a proxy puts in front.
struct FrontendAPI: Sendable, Hashable {
    private let base: ServiceURL

    /// Reads a base URL: what stands before `/v1`.
    init(_ url: String) throws(Origin.InvalidURL) {
        base = try ServiceURL(url, without: "/v1")
    }

    var origin: Origin { base.origin }

    /// A request of a native client: every one carries `_is_native`, and those about the user and their organizations
    /// name the session.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL; `/v1` may be left out, and a query may stand in it.
    ///   - query: Further fields of the query.
    ///   - sessionID: The session that calls about the user are made for.
    func request(
        _ method: HTTPRequest.Method,
        path: String,
        query: FormFields = FormFields(),
        sessionID: String? = nil
    ) -> HTTPRequest {
        var path = path.hasPrefix("/") ? path : "/" + path
        if path != "/v1", !["/v1/", "/v1?", "/v1#"].contains(where: { path.hasPrefix($0) }) { path = "/v1" + path }
        var query = query
        query.add("_is_native", "true")
        let segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        if ["me", "organizations"].contains(segments.dropFirst().first) { query.add("_clerk_session_id", sessionID) }
        return base.request(method, path: path, query: query)
    }
}
