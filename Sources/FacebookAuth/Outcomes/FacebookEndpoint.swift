import HTTPRecovery
import HTTPTypes

/// The endpoint of Graph that a request went to.
struct FacebookEndpoint {
    private let method: HTTPRequest.Method
    /// The segments below the version.
    let segments: [Substring]

    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path.
    ///   - ids: The objects, if they are named beside the path, which then has only what is wanted of each.
    init(method: HTTPRequest.Method, path: String, of ids: [String] = []) {
        self.method = method
        var segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").prefix(32)[...]
        if let first = segments.first, Self.isVersion(first) { segments = segments.dropFirst() }
        self.segments = (ids.first.map { [Substring($0)] } ?? []) + segments
    }

    /// Whether a segment is a version, such as `v25.0`.
    static func isVersion(_ segment: Substring) -> Bool {
        guard segment.first == "v", segment.utf8.count <= 16 else { return false }
        let rest = segment.dropFirst()
        return rest.first?.isNumber == true && rest.utf8.allSatisfy { $0.isDigit || $0 == 0x2E }
    }

    /// Whether batches are posted here: the root.
    var isRoot: Bool { segments.isEmpty }

    /// Whether tokens are issued here.
    var issuesTokens: Bool { segments.last == "access_token" && segments.contains("oauth") }

    /// Whether a device login is begun or asked about here: the only places where its finer codes mean anything.
    var isDevice: Bool { isDeviceStatus || segments.suffix(2).elementsEqual(["device", "login"]) }

    /// Whether the device login is asked about here.
    var isDeviceStatus: Bool { segments.suffix(2).elementsEqual(["device", "login_status"]) }

    /// Whether something is only prepared here that is published by another request: a container of Instagram's.
    var preparesMedia: Bool { method == .post && segments.count == 2 && segments.last == "media" }

    /// Whether the request takes all permissions back, which ends its token.
    var revokesAll: Bool { method == .delete && segments.count == 2 && segments.last == "permissions" }

    /// The sort of use and the object, which business limits are counted by.
    var className: String { "\(use.rawValue) \(object ?? "batch")" }

    /// The object: a page, an account, a person; nil for the root.
    ///
    /// A post of a page's is called by the page's id and its own, and an ad account by its id behind `act_`, which usage
    /// fields leave out.
    var object: Substring? { segments.first.map(Self.object) }

    static func object(_ first: Substring) -> Substring {
        if first.hasPrefix("act_") { return first.dropFirst(4) }
        let numbers = first.split(separator: "_", omittingEmptySubsequences: false)
        let isPost = numbers.count > 1 && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }
        return isPost ? numbers.first ?? first : first
    }

    /// Whether the object is what limits are counted by, and not something of its: an ad account, or what has an edge
    /// that only pages and accounts of Instagram's have.
    var namesOwner: Bool {
        if segments.first?.hasPrefix("act_") == true { return true }
        return segments.count > 1 && Self.ownEdges.contains(segments[1])
    }

    private static let ownEdges: Set<Substring> = [
        "feed", "posts", "published_posts", "visitor_posts", "conversations", "leadgen_forms", "media_publish",
    ]

    /// The sort of use.
    var use: FacebookUse {
        let isAccount = segments.first?.hasPrefix("act_") == true
        for edge in segments.dropFirst().reversed() {
            if edge == "insights" { return isAccount ? .adsInsights : .insights }
            if let use = FacebookUse.edges[edge] { return use }
        }
        return isAccount ? .adsManagement : .graph
    }
}
