#if AsyncHTTPClient
import AsyncHTTPClient
public import HTTPRecovery

extension AsyncHTTPClientTransport {
    /// Whether requests go through a proxy.
    ///
    /// A user and password in the URL cannot be printed or dumped.
    public struct Proxy: Sendable, Hashable, Redacted {
        private enum Choice: Hashable {
            case none
            case url(String)
        }

        private let choice: Choice

        /// No proxy, whatever the environment says.
        public static let none = Proxy(choice: .none)

        /// The proxy at a URL such as `http://proxy.example:3128` or `socks5h://127.0.0.1:1080`.
        ///
        /// All requests go through a tunnel (`CONNECT`), those over plain text too. A user and password in the URL are
        /// for an HTTP proxy; the client knows none for SOCKS, and no proxy that is spoken to over TLS. A URL that
        /// cannot be used ends each attempt as `misconfigured`.
        public static func url(_ url: String) -> Proxy {
            Proxy(choice: .url(url))
        }

        /// `none`, or the URL without a user and password.
        public var description: String {
            switch choice {
            case .none: "none"
            case .url(let url): Address(url)?.description ?? "unusable"
            }
        }

        /// Why the client cannot use the proxy, as a sentence without a user or password; nil if it can.
        public var problem: String? {
            do throws(TransportError) {
                _ = try settings()
                return nil
            } catch {
                return error.message
            }
        }

        /// That of libcurl, for each kind of proxy.
        private static let standardPort = 1080

        /// What the client is configured with; nil if there is no proxy.
        func settings() throws(TransportError) -> HTTPClient.Configuration.Proxy? {
            guard case .url(let url) = choice else { return nil }
            guard let address = Address(url), !address.host.isEmpty else {
                throw TransportError(.misconfigured, .neverSent, message: "the proxy's URL cannot be used")
            }
            switch address.scheme {
            case "http":
                return .server(
                    host: address.host,
                    port: address.port ?? Self.standardPort,
                    authorization: address.credentials.map { .basic(username: $0.user, password: $0.password) }
                )
            case "socks5", "socks5h":
                guard address.credentials == nil else {
                    throw TransportError(
                        .misconfigured,
                        .neverSent,
                        message: "AsyncHTTPClient cannot give a SOCKS proxy a user and password"
                    )
                }
                return .socksServer(host: address.host, port: address.port ?? Self.standardPort)
            default:
                throw TransportError(
                    .misconfigured,
                    .neverSent,
                    message: "AsyncHTTPClient knows no proxy of the scheme \(address.scheme)"
                )
            }
        }
    }
}

/// The parts of a proxy's URL.
private struct Address: CustomStringConvertible {
    let scheme: String
    var credentials: (user: String, password: String)?
    let host: String
    var port: Int?

    init?(_ url: String) {
        let bytes = Array(url.utf8)
        guard let mark = bytes.range(of: "://".utf8) else { return nil }
        scheme = Self.text(bytes[..<mark.lowerBound]).inLowercase
        var authority = bytes[mark.upperBound...]
        // A password may hold what ends an authority elsewhere: all up to the last `@` is the user's.
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            let user = authority[..<at]
            let colon = user.firstIndex(of: UInt8(ascii: ":")) ?? user.endIndex
            credentials = (Self.decoded(user[..<colon]), Self.decoded(user[colon...].dropFirst()))
            authority = authority[(at + 1)...]
        }
        if let end = authority.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) {
            authority = authority[..<end]
        }
        let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if let colon = authority[bracket...].lastIndex(of: UInt8(ascii: ":")) {
            guard let number = UInt16(Self.text(authority[(colon + 1)...])), number > 0 else { return nil }
            port = Int(number)
            authority = authority[..<colon]
        }
        if authority.first == UInt8(ascii: "["), authority.last == UInt8(ascii: "]") {
            authority = authority.dropFirst().dropLast()
        }
        host = Self.text(authority)
    }

    var description: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(scheme)://\(name)\(port.map { ":\($0)" } ?? "")"
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: PercentEncoding.decode(bytes).bytes, as: UTF8.self)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
#endif
