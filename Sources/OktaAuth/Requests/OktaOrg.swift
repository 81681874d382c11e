import HTTPRecovery
import HTTPTypes

/// Where an org is.
struct OktaOrg: Sendable, Hashable {
    private let base: HTTPRequest
    private let prefix: String

    /// Reads an org's URL: what stands before `/api/v1`.
    init(_ url: String) throws(Origin.InvalidURL) {
        base = try HTTPRequest(baseURL: url)
        var path = base.pathWithoutQuery
        while path.hasSuffix("/") { path.removeLast() }
        if path.hasSuffix("/api/v1") { path.removeLast("/api/v1".count) }
        while path.hasSuffix("/") { path.removeLast() }
        prefix = path
    }

    var origin: Origin { Origin(of: base) }

    /// The URL without a slash at its end.
    var url: String { "\(origin)\(prefix)" }

    /// The domain, which WebAuthn credentials are bound to.
    var domain: String {
        let authority = origin.authority
        guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else { return authority }
        return String(authority[..<colon])
    }

    /// A request below the org's URL.
    func request(_ method: HTTPRequest.Method, path: String) -> HTTPRequest {
        var path = path.hasPrefix("/") ? path : "/" + path
        if let fragment = path.firstIndex(of: "#") { path = String(path[..<fragment]) }
        return HTTPRequest(
            method: method,
            scheme: base.scheme ?? "https",
            authority: base.authority ?? "",
            path: prefix + path
        )
    }

    /// The request for a published link: followed as it is, but to no other origin.
    ///
    /// - Throws: `RecoveryError` with an ``OktaLinkError`` as its cause.
    func request(for link: OktaLink, adding query: [String] = []) throws(RecoveryError) -> HTTPRequest {
        let isRelative = link.href.hasPrefix("/") && !link.href.hasPrefix("//")
        guard var request = try? HTTPRequest(url: isRelative ? "\(origin)\(link.href)" : link.href) else {
            throw Self.refusal(.invalid)
        }
        guard Origin(of: request) == origin else { throw Self.refusal(.foreignOrigin) }
        request.method = link.methods.isEmpty || link.methods.contains("POST") ? .post : .get
        if !query.isEmpty { request.path = (request.path ?? "/").addingQuery(query.joined(separator: "&")) }
        return request
    }

    static func refusal(_ error: OktaLinkError) -> RecoveryError {
        RecoveryError(
            outcome: Outcome(.misconfigured, processed: .no, remedies: [.fixRequest]),
            reason: .notRecoverable,
            cause: error
        )
    }
}
