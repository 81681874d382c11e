import HTTPRecovery
import HTTPTypes

/// The endpoint of Graph that a request went to.
struct FacebookEndpoint {
    private let method: HTTPRequest.Method
    /// The segments below the version.
    let segments: [Substring]

    init(method: HTTPRequest.Method, path: String) {
        self.method = method
        var segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").prefix(32)[...]
        if let first = segments.first, Self.isVersion(first) { segments = segments.dropFirst() }
        self.segments = Array(segments)
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

    /// The object and the type of use, which business limits are counted by.
    var className: String {
        guard let object = segments.first else { return "batch" }
        return "\(use) \(object)"
    }

    /// The type of use, in the words of the usage header; `graph` if the path does not tell.
    private var use: String {
        let edges = segments.dropFirst()
        for edge in edges.reversed() {
            if let use = Self.uses[edge] { return use }
        }
        return segments.first?.hasPrefix("act_") == true ? "ads_management" : "graph"
    }

    private static let uses: [Substring: String] = [
        "insights": "ads_insights", "customaudiences": "custom_audience", "users": "custom_audience",
        "leads": "leadgen", "leadgen_forms": "leadgen", "messages": "messages", "items_batch": "catalog_batch",
        "batch": "catalog_batch", "products": "catalog",
    ]
}
