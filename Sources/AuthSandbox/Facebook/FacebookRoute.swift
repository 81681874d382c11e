import HTTPRecovery

/// Which node or edge of Graph a path is.
struct FacebookRoute: Sendable, Equatable {
    /// The version, such as `v25.0`; nil where the path has none.
    let version: String?
    /// The parts of the path below the version, decoded.
    let parts: [String]

    /// The node that a path is; nil for a path of somebody else.
    ///
    /// Below a version everything is Graph's; without one only what nobody else has.
    static func find(_ path: String, method: String) -> FacebookRoute? {
        guard path.utf8.count <= 4096 else { return nil }
        let parts = path.split(separator: "/").map { FormEncoding.decode(Array($0.utf8), plusIsSpace: false) }
        if let first = parts.first, isVersion(first) {
            return FacebookRoute(version: first, parts: Array(parts.dropFirst()))
        }
        // Where the bytes of reels go to: another host at Facebook.
        if parts.count == 3, parts[0] == "video-upload", isVersion(parts[1]) {
            return FacebookRoute(version: parts[1], parts: [parts[0], parts[2]])
        }
        // Another API may have any path before its /v1.
        guard !parts.contains("v1"), parts.isEmpty ? method == "POST" : isNode(parts) else { return nil }
        return FacebookRoute(version: nil, parts: parts)
    }

    /// Whether a part is a version such as `v25.0`; a bare `v1` is another API's.
    private static func isVersion(_ part: String) -> Bool {
        let numbers = part.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        return part.first == "v" && part.utf8.count <= 16 && numbers.count == 2
            && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    private static func isNode(_ parts: [String]) -> Bool {
        switch parts[0] {
        case "me", "debug_token": true
        case let name where name.hasPrefix("upload:"): parts.count == 1
        case "device": parts.count == 1 || (parts.count == 2 && ["login", "login_status"].contains(parts[1]))
        case "oauth": parts == ["oauth", "access_token"]
        case ".well-known": parts == [".well-known", "oauth", "openid", "jwks"]
        case "dialog": parts == ["dialog", "oauth"]
        case let name: isID(name) || (name.hasPrefix("act_") && isID(String(name.dropFirst(4))))
        }
    }

    /// Whether a part is the id of a person, a page or, with an underscore within, a post.
    static func isID(_ part: String) -> Bool {
        let numbers = part.split(separator: "_", omittingEmptySubsequences: false)
        return part.utf8.count <= 64 && (1...2).contains(numbers.count)
            && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
