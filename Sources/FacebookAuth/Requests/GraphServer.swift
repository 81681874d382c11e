import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Where Graph is, and which version of it is spoken.
struct GraphServer: Sendable, Hashable {
    private let base: ServiceURL
    private let version: String?

    /// Reads the URL that stands before the version.
    ///
    /// - Parameters:
    ///   - url: The URL; if it ends with a version, that one is spoken.
    ///   - version: The version, such as `v25.0` or `25.0`; nil for none.
    init(_ url: String, version: String?) throws(Origin.InvalidURL) {
        let whole = try ServiceURL(url)
        let stated = whole.prefix.split(separator: "/").last.flatMap {
            FacebookEndpoint.isVersion($0) ? String($0) : nil
        }
        base = stated.map { ServiceURL(whole.origin, prefix: String(whole.prefix.dropLast($0.count))) } ?? whole
        let chosen = stated ?? version.map { $0.hasPrefix("v") ? $0 : "v\($0)" }
        guard chosen.map({ FacebookEndpoint.isVersion($0[...]) }) ?? true else {
            throw Origin.InvalidURL(description: "the version is none such as v25.0")
        }
        self.version = chosen
    }

    var origin: Origin { base.origin }

    /// The host for another purpose, whose name stands in front of Facebook's; where Graph is elsewhere, as in a test, all
    /// is there.
    func sibling(_ name: String) -> GraphServer {
        guard origin.authority.hasPrefix("graph.") else { return self }
        let sibling = Origin(scheme: origin.scheme, authority: name + origin.authority.dropFirst("graph".count))
        return GraphServer(base: ServiceURL(sibling, prefix: base.prefix), version: version)
    }

    private init(base: ServiceURL, version: String?) {
        (self.base, self.version) = (base, version)
    }

    /// A request for a path, with the version in front unless the path has one.
    ///
    /// What a query of the path says stays in front of the fields.
    func request(_ method: HTTPRequest.Method, path: String, query: FormFields = FormFields()) -> HTTPRequest {
        let path = path.drop { $0 == "/" }
        let isVersioned = FacebookEndpoint.isVersion(path.prefix { !"/?#".contains($0) })
        let version = isVersioned ? "" : version ?? ""
        let joint = path.isEmpty || version.isEmpty ? "" : "/"
        return base.request(method, path: version + joint + path, query: query)
    }

    /// A request for a path of the site itself, which has no version.
    func request(ofSite path: String) -> HTTPRequest { base.request(.get, path: path) }

    /// The request for a URL that an answer names; nil if it leads to another origin.
    func request(following url: String) -> HTTPRequest? {
        base.request(.get, following: url)
    }
}

extension HTTPRequest {
    /// The fields of the query.
    var queryFields: FormFields {
        let query = path?.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        return FormFields(parsing: (query ?? "").prefix { $0 != "#" }.utf8)
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
