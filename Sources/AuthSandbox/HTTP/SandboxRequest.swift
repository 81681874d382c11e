import HTTPRecoveryTesting

/// One request as it arrived, whole.
struct SandboxRequest: Sendable {
    /// The verb, as it was written.
    var method: String
    /// The path without the query, still percent-encoded.
    var path: String
    /// The query, decoded.
    var query: [FormEncoding.Field]
    /// The query as it was sent, without its question mark; nil if there was none.
    var rawQuery: String?
    /// The headers in order; names in lower case.
    var headers: [Header]
    var body: [UInt8]
    /// The client's address, without its port.
    var peer: String
    /// Which connection it came on, counted from 1.
    var connection: Int
    /// When its last bytes arrived, in milliseconds of the system's clock; nil where that is not known.
    var arrival: Int64?
    /// Whether it is meant for an upstream, whose paths nobody here knows.
    var isForUpstream = false

    typealias Header = HeaderLine

    init(
        method: String,
        target: String,
        headers: [Header] = [],
        body: [UInt8] = [],
        peer: String = "127.0.0.1",
        connection: Int = 0,
        arrival: Int64? = nil
    ) {
        self.method = method
        self.arrival = arrival
        // The absolute form is what a proxy is sent; only its path and query matter here.
        var rest = Substring(target)
        if let scheme = rest.firstRange(of: "://"), !rest.hasPrefix("/") {
            rest = rest[scheme.upperBound...]
            let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            rest = rest[authorityEnd...]
            if rest.first != "/" { rest = "/" + rest }
        }
        rest = rest.prefix { $0 != "#" }
        let halves = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(halves.first ?? "/")
        rawQuery = halves.count > 1 ? String(halves[1]) : nil
        query = halves.count > 1 ? FormEncoding.fields(Array(halves[1].utf8)) : []
        self.headers = headers
        self.body = body
        self.peer = peer
        self.connection = connection
    }

    /// The first value of a header; give the name in lower case.
    func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// The first value of a query item.
    func queryItem(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// The path's parts, decoded.
    var segments: [String] {
        path.split(separator: "/").map { FormEncoding.decode(Array($0.utf8), plusIsSpace: false) }
    }

    /// Whether it is for the sandbox itself.
    var isControl: Bool { path == "/_sandbox" || path.hasPrefix("/_sandbox/") }

    /// The scheme and the authority that it was sent to.
    var origin: String {
        let host = header("host") ?? ""
        let isPlain =
            (1...255).contains(host.utf8.count)
            && host.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isASCII && (character.isLetter || character.isNumber || ".:-[]_".contains(character))
            }
        return "http://" + (isPlain ? host.lowercased() : "localhost")
    }
}
