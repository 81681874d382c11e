public import HTTPTypes

extension Origin {
    /// Why a text is not the URL of a request.
    public struct InvalidURL: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong; the URL itself is left out, since it may hold secrets.
        public let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// Creates the origin of an absolute `http` or `https` URL, such as the base of an API.
    ///
    /// - Parameter url: The absolute URL, percent-encoded; path, query and fragment do not count.
    /// - Throws: ``InvalidURL`` when a request cannot have such a URL.
    public init(url: String) throws(InvalidURL) {
        self.init(of: try HTTPRequest(url: url))
    }
}

extension HTTPRequest {
    /// Creates a request for an absolute `http` or `https` URL.
    ///
    /// Userinfo is refused rather than sent or silently dropped; a fragment is dropped.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The absolute URL, percent-encoded.
    ///   - headerFields: The header fields.
    /// - Throws: ``Origin/InvalidURL`` when the text is no such URL.
    public init(method: Method = .get, url: String, headerFields: HTTPFields = [:]) throws(Origin.InvalidURL) {
        guard let separator = url.utf8.range(of: "://".utf8) else {
            throw Origin.InvalidURL(description: "the URL does not begin with http:// or https://; write it whole")
        }
        let scheme = url[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Origin.InvalidURL(description: "the URL's scheme is neither http nor https")
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Origin.InvalidURL(
                description: "the URL has a space, a control or a non-ASCII character; percent-encode it, or write "
                    + "a host by its form that begins with xn--"
            )
        }
        let rest = url[separator.upperBound...].prefix { $0 != "#" }
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        guard !authority.contains("@") else {
            throw Origin.InvalidURL(
                description: "the URL holds a user name or password; send an Authorization field instead"
            )
        }
        guard Authority.defect(of: String(authority)) == nil, !authority.hasSuffix(":") else {
            throw Origin.InvalidURL(description: "the URL's host or port is missing or wrong")
        }
        let target = rest[authorityEnd...]
        let path = target.isEmpty ? "/" : target.hasPrefix("?") ? "/\(target)" : String(target)
        self.init(
            method: method,
            scheme: scheme,
            authority: String(authority),
            path: path,
            headerFields: headerFields
        )
    }

    /// Creates a request for a base URL: one that paths are put after.
    ///
    /// A query or a fragment would have no place in what is sent, so neither is dropped silently.
    ///
    /// - Parameter url: The absolute URL, percent-encoded.
    /// - Throws: ``Origin/InvalidURL`` when the text is no such URL, or has a query or a fragment.
    package init(baseURL url: String) throws(Origin.InvalidURL) {
        guard !url.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw Origin.InvalidURL(description: "the base URL has a query or a fragment; leave it out")
        }
        try self.init(url: url)
    }
}
