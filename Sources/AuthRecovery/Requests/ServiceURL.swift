public import HTTPRecovery
public import HTTPTypes

/// Where a provider's API is: an origin, and the path that a deployment or a proxy puts in front.
///
/// ```swift
/// let base = try ServiceURL("https://id.example.com/am/json", without: "/json")
/// let request = base.request(.get, path: "/serverinfo")   // https://id.example.com/am/serverinfo
/// ```
public struct ServiceURL: Sendable, Hashable, CustomStringConvertible {
    /// The origin.
    public let origin: Origin
    /// The path in front of every request's; empty or with a slash at its beginning, and none at its end.
    public let prefix: String

    /// Reads a base URL.
    ///
    /// - Parameters:
    ///   - url: The URL: `http` or `https`, without query and fragment.
    ///   - ending: What may stand at its end and does not belong to it, such as `/v1`.
    /// - Throws: `Origin.InvalidURL` if the text is no such URL.
    public init(_ url: String, without ending: String = "") throws(Origin.InvalidURL) {
        let request = try HTTPRequest(baseURL: url)
        origin = Origin(of: request)
        var path = Self.withoutSlashes(request.pathWithoutQuery)
        if !ending.isEmpty, path.hasSuffix(ending) { path = Self.withoutSlashes(String(path.dropLast(ending.count))) }
        prefix = path
    }

    /// The same origin with another path in front.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - prefix: The path; slashes at its end are dropped.
    public init(_ origin: Origin, prefix: String) {
        self.origin = origin
        self.prefix = Self.withoutSlashes(prefix)
    }

    private static func withoutSlashes(_ path: String) -> String {
        var path = path
        while path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// The URL, without a slash at its end.
    public var description: String { "\(origin)\(prefix)" }

    /// The host without its port, which WebAuthn credentials are bound to.
    public var domain: String {
        let authority = origin.authority
        guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else { return authority }
        return String(authority[..<colon])
    }

    /// A request to a path below the URL.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, with or without a slash at its beginning; it may have a query. A fragment is left out.
    ///   - query: Further fields of the query.
    public func request(
        _ method: HTTPRequest.Method,
        path: String,
        query: FormFields = FormFields()
    ) -> HTTPRequest {
        let path = String(path.prefix { $0 != "#" })
        var request = HTTPRequest(
            method: method,
            scheme: origin.scheme,
            authority: origin.authority,
            path: prefix + (path.hasPrefix("/") ? path : "/" + path)
        )
        request.addQuery(query)
        return request
    }

    /// The request for a link that an answer names; nil if it is none, or leads to another origin, which credentials must
    /// not be sent to.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - link: A whole URL, or a path on the origin.
    public func request(_ method: HTTPRequest.Method, following link: String) -> HTTPRequest? {
        let isPath = link.hasPrefix("/") && !link.hasPrefix("//")
        guard var request = try? HTTPRequest(url: isPath ? "\(origin)\(link)" : link), Origin(of: request) == origin
        else { return nil }
        request.method = method
        return request
    }
}

extension HTTPRequest {
    /// Adds fields to the query, behind what stands there.
    ///
    /// - Parameter fields: The fields; without any, nothing changes.
    public mutating func addQuery(_ fields: FormFields) {
        guard !fields.names.isEmpty else { return }
        path = (path ?? "/").addingQuery(fields.encoded)
    }
}
