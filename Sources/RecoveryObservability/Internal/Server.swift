#if Observability
import HTTPRecovery
import HTTPTypes

/// Host and port that a request goes to.
struct Server: Sendable, Hashable {
    let address: String
    let port: Int

    init(of request: HTTPRequest) {
        self.init(Origin(of: request))
    }

    /// The server of a redacted URL, as it stands in an event.
    init?(url: String?) {
        guard let url, let separator = url.utf8.range(of: "://".utf8) else { return nil }
        let rest = url[separator.upperBound...]
        let authority = String(decoding: rest.utf8.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
        self.init(Origin(scheme: String(url[..<separator.lowerBound]), authority: authority))
    }

    private init(_ origin: Origin) {
        let text = origin.authority
        let standard = origin.scheme == "http" ? 80 : 443
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") else {
            (address, port) = (text, standard)
            return
        }
        address = String(text[..<colon])
        port = Int(text[text.utf8.index(after: colon)...]) ?? standard
    }
}

extension HTTPRequest {
    static let otherMethod = "_OTHER"
    private static let knownMethods: Set = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    /// The method if it is a known one, by the convention: what is not is `_OTHER`.
    var knownMethod: String { Self.known(method.rawValue) }

    static func known(_ method: String) -> String { knownMethods.contains(method) ? method : otherMethod }

    /// The method, or `HTTP` if it is none that is known.
    var spanName: String { knownMethod == Self.otherMethod ? "HTTP" : knownMethod }
}
#endif
