import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Where Graph is, and which version of it is spoken.
struct GraphServer: Sendable, Hashable {
    private let base: HTTPRequest
    private let prefix: String
    private let version: String?

    /// Reads the URL that stands before the version.
    ///
    /// - Parameters:
    ///   - url: The URL; where it ends with a version, that one is spoken.
    ///   - version: The version, such as `v25.0` or `25.0`; nil for none.
    init(_ url: String, version: String?) throws(Origin.InvalidURL) {
        base = try HTTPRequest(baseURL: url)
        var path = base.pathWithoutQuery
        while path.hasSuffix("/") { path.removeLast() }
        var stated: String?
        if let last = path.split(separator: "/").last, FacebookEndpoint.isVersion(last) {
            stated = String(last)
            path.removeLast(last.count + 1)
        }
        prefix = path
        let chosen = stated ?? version.map { $0.hasPrefix("v") ? $0 : "v\($0)" }
        guard chosen.map({ FacebookEndpoint.isVersion($0[...]) }) ?? true else {
            throw Origin.InvalidURL(description: "the version is none such as v25.0")
        }
        self.version = chosen
    }

    var origin: Origin { Origin(of: base) }

    /// A request for a path, with the version in front unless the path has one.
    ///
    /// What a query of the path says stays in front of the fields.
    func request(_ method: HTTPRequest.Method, path: String, query: FormFields = FormFields()) -> HTTPRequest {
        var path = String(path.prefix { $0 != "#" })
        while path.hasPrefix("/") { path.removeFirst() }
        let first = path.prefix { $0 != "/" && $0 != "?" }
        var target = prefix + "/"
        if let version, !FacebookEndpoint.isVersion(first) { target += path.isEmpty ? version : version + "/" }
        target += path
        var request = HTTPRequest(
            method: method,
            scheme: base.scheme ?? "https",
            authority: base.authority ?? "",
            path: target
        )
        request.addQuery(query)
        return request
    }

    /// The request for a URL that an answer names; nil where it leads to another origin.
    func request(following url: String) -> HTTPRequest? {
        guard let request = try? HTTPRequest(url: url), Origin(of: request) == origin else { return nil }
        return request
    }
}

extension HTTPRequest {
    /// Adds fields to the query.
    mutating func addQuery(_ fields: FormFields) {
        guard !fields.names.isEmpty else { return }
        path = (path ?? "/").addingQuery(fields.encoded)
    }

    /// Takes fields out of the query: secrets that an answer has put into a URL.
    mutating func removeQuery(_ names: Set<String>) {
        guard let path, let start = path.firstIndex(of: "?") else { return }
        let parts = path[path.index(after: start)...].split(separator: "&").filter { part in
            let fields = FormFields(parsing: part.utf8)
            return !fields.names.contains { names.contains($0) }
        }
        self.path = String(path[..<start]) + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }
}
