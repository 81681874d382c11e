public import ArgumentParser
public import CurlTransport

/// How a connection is made, and who shows what to whom; by curl's names.
public struct NetworkOptions: ParsableArguments, Sendable {
    /// The certificates to trust instead of the system's, as PEM; nil for those of the system.
    @Option(
        help: ArgumentHelp("The certificates to trust instead of the system's, as PEM.", valueName: "FILE"),
        completion: .file()
    )
    public var cacert: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time a connection may take, name and TLS included. 0 and default: 10.", valueName: "S"),
        transform: Seconds.parse
    )
    var connectTimeout: Seconds?

    @Option(
        name: [.customShort("x"), .customLong("proxy")],
        help: ArgumentHelp(
            """
            An http, https, socks4, socks4a, socks5 or socks5h proxy; HOST:PORT is an http one. The environment's proxies \
            are not used, and an empty text is none either.
            """,
            valueName: "URL"
        )
    )
    var proxy: String?

    @Option(
        name: .customLong("proxy-env"),
        help: ArgumentHelp(
            "The environment variable with what --proxy would say: for a URL with a password in it.",
            valueName: "NAME"
        )
    )
    var proxyVariable: String?

    @Option(
        name: [.customShort("E"), .customLong("cert")],
        help: ArgumentHelp(
            "The certificate to show to a server that asks for one, as PEM; its key may stand in the same file.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var cert: String?

    @Option(help: ArgumentHelp("The private key of --cert, as PEM.", valueName: "FILE"), completion: .file())
    var key: String?

    @Option(
        name: .customLong("key-pass-env"),
        help: ArgumentHelp("The environment variable with what the key is encrypted with.", valueName: "NAME")
    )
    var passphraseVariable: String?

    @Option(
        help: ArgumentHelp(
            "Accepts only a server with one of these public keys, beside a certificate that is trusted.",
            valueName: "sha256//BASE64;…"
        )
    )
    var pinnedpubkey: String?

    @Flag var lowestTLS: TLSChoice?

    @Option(
        name: .customLong("tls-max"),
        help: ArgumentHelp("Accept no later version of TLS than that.", valueName: "1.2|1.3"),
        transform: TLSChoice.parse
    )
    var highestTLS: TLSChoice?

    @Flag var family: FamilyChoice?

    @Option(
        help: ArgumentHelp("Connects to that unix-domain socket, whatever the host.", valueName: "PATH"),
        completion: .file()
    )
    var unixSocket: String?

    @Option(
        name: .customLong("connect-to"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Connects to HOST2:PORT2 for what is meant for HOST1:PORT1; an empty part is any, or stays as it is.",
            valueName: "HOST1:PORT1:HOST2:PORT2"
        )
    )
    var connectTo: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Takes that address for the host and port.", valueName: "HOST:PORT:ADDRESS")
    )
    var resolve: [String] = []

    @Option(
        help: ArgumentHelp("Hosts that are reached without --proxy, separated by commas.", valueName: "HOSTS")
    )
    var noproxy: String?

    @Option(
        name: [.customShort("U"), .customLong("proxy-user")],
        parsing: .unconditional,
        help: ArgumentHelp("User and password for the proxy.", valueName: "USER:PASSWORD")
    )
    var proxyUser: String?

    /// Creates the options that say nothing.
    public init() {}

    /// The time a connection may take; nil for the transport's own, which 0 is to curl too.
    public var connectionTime: Duration? { connectTimeout.flatMap { $0.duration > .zero ? $0.duration : nil } }

    /// The option that names the proxy.
    public var proxyOption: String { proxyVariable == nil ? "--proxy" : "--proxy-env" }

    /// Whether a proxy is named; with an empty text none is, as in curl.
    var namesProxy: Bool { proxyVariable != nil || !(proxy ?? "").isEmpty }

    /// Sets what the options say.
    ///
    /// - Throws: ``InvalidOption`` for what contradicts itself or cannot be, ``FileError`` for a file that cannot be read.
    public func apply(to configuration: inout CurlTransport.Configuration) throws {
        if let cacert {
            try RequestInput.checkReadable(cacert)
            configuration.caFile = cacert
        }
        if let connectionTime { configuration.connectTimeout = connectionTime }
        try applyTargets(to: &configuration)
        // Without a proxy all hosts are reached without one, whatever --noproxy says.
        if let proxy = try proxyURL() {
            configuration.proxy = .url(proxy, except: hostsWithoutProxy)
        }
        if let problem = configuration.problem { throw InvalidOption("the connection: \(problem)") }
    }

    /// The proxy, with its user; nil for none.
    public func proxyURL() throws(InvalidOption) -> String? {
        guard let url = try plainProxyURL() else {
            if proxyUser != nil { throw InvalidOption("-U belongs to --proxy or --proxy-env") }
            return nil
        }
        guard let proxyUser else { return url }
        guard !url.utf8.contains(UInt8(ascii: "@")), let scheme = url.firstRange(of: "://") else {
            throw InvalidOption("-U and a user in the proxy's URL contradict each other")
        }
        let parts = proxyUser.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
            PercentEncoding.encode($0.utf8)
        }
        return url[..<scheme.upperBound] + parts.joined(separator: ":") + "@" + url[scheme.upperBound...]
    }

    private func plainProxyURL() throws(InvalidOption) -> String? {
        guard namesProxy else { return nil }
        guard let proxyVariable else {
            return try proxy.map { url throws(InvalidOption) in try RequestInput.proxy(url) }
        }
        guard proxy == nil else { throw InvalidOption("--proxy-env and --proxy contradict each other") }
        let url = try Environment.text(proxyVariable, for: "--proxy-env")
        return try RequestInput.proxy(url, option: "--proxy-env")
    }
}
