import HTTPTypes

/// A URL reference as it stands in a `Location` field: absolute, or relative to the request's URL (RFC 3986).
struct URLReference {
    private let text: String

    /// Creates a reference; what browsers forgive is forgiven: space around it, and bytes that should be escaped.
    init(_ text: String) {
        let bytes = text.utf8.trimming(\.isOWS).prefix { $0 != UInt8(ascii: "#") }
        self.text = PercentEncoding.encode(bytes) { $0 > 0x20 && $0 < 0x7f && !Self.forbidden.contains($0) }
    }

    /// The request for the URL that the reference means, seen from another request (RFC 3986 section 5.2).
    ///
    /// Nil if it is no http or https URL, or one with a user name.
    func resolved(against base: HTTPRequest) -> HTTPRequest? {
        guard let scheme = base.scheme, let authority = base.authority else { return nil }
        let basePath = URLReference(base.pathWithoutQuery).text
        let origin = "\(scheme)://\(authority)"
        if hasScheme { return Self.normalized(text) }
        if text.hasPrefix("//") { return Self.normalized("\(scheme):\(text)") }
        if text.isEmpty { return Self.normalized(origin + URLReference(base.path ?? "/").text) }
        if text.hasPrefix("?") { return Self.normalized(origin + basePath + text) }
        if text.hasPrefix("/") { return Self.normalized(origin + text) }
        let directory = basePath.utf8.lastIndex(of: UInt8(ascii: "/")).map { basePath[...$0] } ?? "/"
        return Self.normalized(origin + directory + text)
    }

    private var hasScheme: Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text[..<colon]
        return scheme.first?.isLetter == true && scheme.utf8.allSatisfy { $0.isAlphanumeric || "+-.".utf8.contains($0) }
    }

    private static func normalized(_ url: String) -> HTTPRequest? {
        guard var request = try? HTTPRequest(url: url), let path = request.path else { return nil }
        let end = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex
        request.path = withoutDotSegments(path[..<end]) + path[end...]
        return request
    }

    /// RFC 3986 section 5.2.4, for a path that begins with a slash.
    private static func withoutDotSegments(_ path: Substring) -> String {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    private static let forbidden = Set("\"<>\\^`{|}".utf8)
}
