public import HTTPRecovery

extension CurlTransport {
    /// Whether requests go through a proxy.
    ///
    /// A user and password in the URL cannot be printed or dumped.
    public struct Proxy: Sendable, Hashable, Redacted {
        private enum Choice: Hashable {
            case none
            case environment
            case url(String, except: String)
        }

        private let choice: Choice

        /// No proxy, whatever the environment says.
        public static let none = Proxy(choice: .none)

        /// What the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
        public static let environment = Proxy(choice: .environment)

        /// The proxy at a URL such as `http://proxy.example:3128` or `socks5h://127.0.0.1:1080`.
        ///
        /// A user and password in it are for the proxy alone. A proxy that is reached over TLS is verified against
        /// ``TLS/authorities``.
        ///
        /// - Parameters:
        ///   - url: The URL; schemes are http, https, socks4, socks4a (the proxy looks names up), socks5 and socks5h (it
        ///     looks them up).
        ///   - hosts: Which hosts are reached without it: a name is meant with all names below it (`example.com`,
        ///     `api.example.com`), an address by itself or with a prefix length (`10.0.0.0/8`), and `*`, by
        ///     itself or among others, is every host.
        public static func url(_ url: String, except hosts: [String] = []) -> Proxy {
            // To libcurl it is every host only where it is the whole list.
            Proxy(choice: .url(url, except: hosts.contains("*") ? "*" : hosts.joined(separator: ",")))
        }

        /// `none`, `environment`, or the URL without a user and password.
        public var description: String {
            switch choice {
            case .none: "none"
            case .environment: "environment"
            case .url(let url, _): Self.withoutUser(url)
            }
        }

        /// The URL without what stands before the last `@` of its authority; one whose authority has none is whole.
        private static func withoutUser(_ url: String) -> String {
            let bytes = Array(url.utf8)
            let slashes = bytes.indices.dropLast(2).first { bytes[$0...].starts(with: "://".utf8) }
            let start = slashes.map { $0 + 3 } ?? 0
            // A password may hold what ends an authority elsewhere: rather too much is left out than too little.
            guard let at = bytes[start...].lastIndex(of: UInt8(ascii: "@")) else { return url }
            return String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self)
        }

        /// Whether the proxy itself may be reached over TLS.
        var isHTTPS: Bool {
            switch choice {
            case .none: false
            case .environment: true
            case .url(let url, _): url.inLowercase.hasPrefix("https:")
            }
        }

        /// Whether no request asks it for a URL, as it is none or one for connections alone.
        var takesNoURLs: Bool {
            switch choice {
            case .none: return true
            case .environment: return false
            case .url(let url, _):
                guard let end = url.utf8.range(of: "://".utf8)?.lowerBound else { return url.isEmpty }
                return ["socks", "socks4", "socks4a", "socks5", "socks5h"].contains(String(url[..<end]).inLowercase)
            }
        }

        /// libcurl's option: an empty text is none, nil leaves it to the environment.
        var url: String? {
            switch choice {
            case .none: ""
            case .environment: nil
            case .url(let url, _): url
            }
        }

        /// libcurl's list of the hosts that are reached without it; nil leaves it to the environment.
        var exceptions: String? {
            switch choice {
            case .none: ""
            case .environment: nil
            case .url(_, let hosts): hosts
            }
        }
    }
}
