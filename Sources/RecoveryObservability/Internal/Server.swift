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
            (address, port) = (Self.address(text[...]), standard)
            return
        }
        address = Self.address(text[..<colon])
        port = Int(text[text.utf8.index(after: colon)...]) ?? standard
    }

    /// An address of IPv6 stands in brackets in a URL alone (OpenTelemetry's `server.address`).
    private static func address(_ host: Substring) -> String {
        let isBracketed = host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]")
        return String(isBracketed ? host.dropFirst().dropLast() : host)
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
