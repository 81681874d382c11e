/// The segments `.` and `..` of a URL's path, which say where they lead (RFC 3986, section 5.2.4).
public enum DotSegments {
    /// The URL without them; what is encoded as `%2e` is none, as in curl.
    public static func removed(from url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
        guard let start = rest[..<end].firstIndex(of: "/"), rest[start..<end].contains("/.") else { return url }
        var kept: [Substring] = []
        let segments = rest[start..<end].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            guard segment == "." || segment == ".." else {
                kept.append(segment)
                continue
            }
            if segment == ".." { _ = kept.popLast() }
            // What led to a directory still does.
            if index == segments.count - 1 { kept.append("") }
        }
        return "\(url[..<start])/\(kept.joined(separator: "/"))\(url[end...])"
    }
}
