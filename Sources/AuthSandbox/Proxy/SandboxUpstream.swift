import HTTPRecovery
import HTTPRecoveryTesting

/// A server behind a sandbox that forwards: where it is, what it is called and how long it may take.
///
/// Plain HTTP only: there is no TLS in this library. Where the server speaks HTTPS, let
/// a TLS terminator on this machine stand between, and say by ``host`` what the server is called.
public struct SandboxUpstream: Sendable, Equatable {
    /// What stands before the path of each request: scheme, authority and prefix, without a slash at its end.
    public let url: String
    /// What requests say in their `Host`.
    ///
    /// Default: the authority of the URL.
    public let host: String
    /// How long the server may take until its answer is there as a whole, connecting included.
    ///
    /// Default: 30 s; from a millisecond to a day.
    public let timeout: Duration
    /// The name or the address, without brackets.
    let name: String
    let port: Int
    /// What stands before the path: empty, or a path without a slash at its end.
    let prefix: String

    /// Reads where a server is.
    ///
    /// - Parameters:
    ///   - url: `http://host`, `http://host:port` or `http://host:port/prefix`; an IPv6 address stands in brackets.
    ///   - host: What requests say in their `Host`; nil for the authority of the URL.
    ///   - timeout: How long it may take until its answer is there as a whole; less than a millisecond counts as one,
    ///     more than a day as a day.
    /// - Throws: ``SandboxError`` that says what is wrong with it. Names are looked up when the sandbox starts.
    public init(
        _ url: String,
        host: String? = nil,
        timeout: Duration = .seconds(30)
    ) throws(SandboxError) {
        func refusal(_ reason: String) -> SandboxError { SandboxError(.invalidInput, "\(url): \(reason)") }
        guard let mark = url.firstRange(of: "://") else {
            throw refusal("an upstream is a URL such as http://127.0.0.1:8080")
        }
        switch url[..<mark.lowerBound].lowercased() {
        case "http": break
        case "https":
            throw refusal(
                """
                there is no TLS here. Start a TLS terminator on this machine that takes plain HTTP and speaks TLS to \
                that server, for example socat TCP-LISTEN:8443,bind=127.0.0.1,reuseaddr,fork OPENSSL:HOST:443, and \
                name it as the upstream: http://127.0.0.1:8443, with the server's own name as the host to ask for
                """
            )
        default: throw refusal("an upstream is reached by plain HTTP: http://HOST:PORT")
        }
        let rest = url[mark.upperBound...]
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw refusal("blanks and letters that are not ASCII cannot stand in a URL")
        }
        guard !rest.contains("?"), !rest.contains("#") else {
            throw refusal("an upstream has no query and no fragment")
        }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.contains("@") else {
            throw refusal("a name and a password cannot stand in the URL of an upstream; send them in a header")
        }
        guard let (name, port) = Self.parts(of: authority) else {
            throw refusal("\"\(authority)\" is not a host, or a host and a port")
        }
        if let host, !Self.isAuthority(host) { throw refusal("\"\(host)\" is not what a Host field may say") }
        var prefix = rest[authority.endIndex...]
        while prefix.last == "/" { prefix.removeLast() }
        (self.name, self.port, self.prefix) = (name, port, String(prefix))
        self.url = "http://\(authority)\(prefix)"
        self.host = host ?? String(authority)
        self.timeout = min(max(timeout, .milliseconds(1)), .seconds(86_400))
    }

    /// The time in milliseconds.
    var timeoutMilliseconds: Int64 {
        let (seconds, attoseconds) = timeout.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    private static func parts(of authority: Substring) -> (name: String, port: Int)? {
        var name = authority
        var port: Substring = "80"
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            name = authority[authority.index(after: authority.startIndex)..<end]
            guard SocketAddress.isIPv6(String(name)) else { return nil }
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            if !rest.isEmpty { port = rest.dropFirst() }
        } else if let colon = authority.firstIndex(of: ":") {
            name = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !name.isEmpty, isAuthority(String(name)), let number = UInt16(port), number > 0 else { return nil }
        return (String(name), Int(number))
    }

    /// Letters, digits and what stands in names, addresses and ports.
    private static func isAuthority(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 300
            && text.utf8.allSatisfy { byte in
                let letter = Character(Unicode.Scalar(byte))
                return letter.isASCII && (letter.isLetter || letter.isNumber || "-._~%:[]".contains(letter))
            }
    }
}
