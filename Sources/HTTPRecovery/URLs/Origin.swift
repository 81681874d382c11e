public import HTTPTypes

/// Scheme, host and port of a request (RFC 6454): what shares a budget, and what a credential belongs to.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme in lower case.
    public let scheme: String

    /// Host and, if it is not the scheme's default, port, in lower case and without userinfo.
    public let authority: String

    /// Creates the origin of a request; a missing scheme is `https`.
    public init(of request: HTTPRequest) {
        self.init(scheme: request.scheme ?? "https", authority: request.authority ?? "")
    }

    /// Creates an origin from scheme and authority.
    public init(scheme: String, authority: String) {
        // Most requests come with both as they are kept.
        if scheme == "https" || scheme == "http", Self.isCanonical(authority, secure: scheme == "https") {
            (self.scheme, self.authority) = (scheme, authority)
            return
        }
        let scheme = scheme.inLowercase
        self.scheme = scheme
        var host = authority[...]
        if let at = host.utf8.lastIndex(of: UInt8(ascii: "@")) { host = host[host.utf8.index(after: at)...] }
        let defaultPort = scheme == "http" ? ":80" : ":443"
        if host.utf8.reversed().starts(with: defaultPort.utf8.reversed()) {
            host = host[..<host.utf8.index(host.endIndex, offsetBy: -defaultPort.utf8.count)]
        }
        self.authority = String(host).inLowercase
    }

    /// Whether there is nothing to change about an authority; by its bytes, as this is asked in every call.
    private static func isCanonical(_ authority: String, secure: Bool) -> Bool {
        var authority = authority
        return authority.withUTF8 { bytes in
            if unsafe bytes.contains(where: { $0 == UInt8(ascii: "@") || $0.isUppercase }) { return false }
            let port: StaticString = secure ? ":443" : ":80"
            guard bytes.count >= port.utf8CodeUnitCount else { return true }
            let start = bytes.count - port.utf8CodeUnitCount
            for offset in 0..<port.utf8CodeUnitCount {
                if unsafe bytes[start + offset] != port.utf8Start[offset] { return true }
            }
            return false
        }
    }

    /// Reads ``description``; nil for any other text.
    init?(text: String) {
        for scheme in ["https", "http"] where text.utf8.starts(with: "\(scheme)://".utf8) {
            self.init(
                scheme: scheme,
                authority: String(decoding: text.utf8.dropFirst(scheme.utf8.count + 3), as: UTF8.self)
            )
            return
        }
        return nil
    }

    /// The origin as the beginning of a URL.
    public var description: String { "\(scheme)://\(authority)" }
}

extension HTTPRequest {
    /// The URL for logs and events: without userinfo, query and fragment, which may hold secrets.
    public var redactedURL: String {
        "\(Origin(of: self))\(pathWithoutQuery)"
    }

    /// The path without the query; `/` if there is none.
    public var pathWithoutQuery: String {
        guard let path, !path.isEmpty else { return "/" }
        guard let end = path.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            return path
        }
        return String(path[..<end])
    }
}
