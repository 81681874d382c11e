public import HTTPTypes

/// Scheme, host and port of a request (RFC 6454): what shares a budget, and what a credential belongs to.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme in lower case.
    public let scheme: String

    /// Host and, if it is not the scheme's default, port without leading zeros, in lower case and without userinfo.
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
        if let colon = Self.portStart(in: host.utf8) {
            let digits = host[colon...].dropFirst()
            let port = digits.drop { $0 == "0" }
            host = host[..<colon]
            if !port.isEmpty || !digits.isEmpty, port != (scheme == "http" ? "80" : "443") {
                self.authority = "\(host):\(port.isEmpty ? "0" : port)".inLowercase
                return
            }
        }
        self.authority = String(host).inLowercase
    }

    /// Whether there is nothing to change about an authority; by its bytes, as this is asked in every call.
    private static func isCanonical(_ authority: String, secure: Bool) -> Bool {
        var authority = authority
        return authority.withUTF8 { bytes in
            if unsafe bytes.contains(where: { $0 == UInt8(ascii: "@") || $0.isUppercase }) { return false }
            guard let colon = unsafe portStart(in: bytes) else { return true }
            let port = unsafe bytes[(colon + 1)...]
            guard let first = unsafe port.first, first != UInt8(ascii: "0") else { return false }
            return unsafe !port.elementsEqual((secure ? "443" : "80").utf8)
        }
    }

    /// Where the colon of a port stands, which may be empty.
    private static func portStart<Bytes: BidirectionalCollection<UInt8>>(in bytes: Bytes) -> Bytes.Index? {
        guard let end = bytes.lastIndex(where: { !$0.isDigit }), bytes[end] == UInt8(ascii: ":") else { return nil }
        return end
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
