import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Where the Frontend API is: an origin, and the path that a proxy puts in front.
struct FrontendAPI: Sendable, Hashable {
    let scheme: String
    let authority: String
    let prefix: String

    /// Reads a base URL: what stands before `/v1`.
    init(_ url: String) throws(Origin.InvalidURL) {
        let request = try HTTPRequest(baseURL: url)
        scheme = request.scheme ?? "https"
        authority = request.authority ?? ""
        var path = request.pathWithoutQuery
        while path.hasSuffix("/") { path.removeLast() }
        if path.hasSuffix("/v1") { path.removeLast(3) }
        while path.hasSuffix("/") { path.removeLast() }
        prefix = path
    }

    var origin: Origin { Origin(scheme: scheme, authority: authority) }

    /// A request of a native client: every one carries `_is_native`, and those about the user name the session.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL; `/v1` may be left out, and a query may stand in it.
    ///   - sessionID: The session that calls about the user are made for.
    func request(_ method: HTTPRequest.Method, path: String, sessionID: String? = nil) -> HTTPRequest {
        var path = path.hasPrefix("/") ? path : "/" + path
        if let fragment = path.firstIndex(of: "#") { path = String(path[..<fragment]) }
        if path != "/v1", !path.hasPrefix("/v1/"), !path.hasPrefix("/v1?") { path = "/v1" + path }
        var items = ["_is_native=true"]
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        if let sessionID, segments.dropFirst().first == "me" {
            items.append("_clerk_session_id=\(FormFields.encode(sessionID))")
        }
        return HTTPRequest(
            method: method,
            scheme: scheme,
            authority: authority,
            path: prefix + path.addingQuery(items.joined(separator: "&"))
        )
    }
}
