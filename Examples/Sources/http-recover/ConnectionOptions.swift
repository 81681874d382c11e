import ArgumentParser
import CommandLineSupport

/// How many calls are made.
struct CallOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Makes each call so many times: all URLs once, then again.", valueName: "N")
    )
    var `repeat` = 1

    @Option(
        name: [.customLong("concurrency"), .customLong("parallel-max")],
        parsing: .unconditional,
        help: ArgumentHelp("The most calls at the same time. Default: 1, with -Z 50.", valueName: "N")
    )
    var mostAtATime: Int?

    @Flag(name: [.customShort("Z"), .customLong("parallel")], help: "Makes the calls at the same time.")
    var parallel = false

    /// The most calls at the same time.
    var concurrency: Int { mostAtATime ?? (parallel ? 50 : 1) }
}

/// How the connection is made.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "What performs the requests: curl (libcurl) or ahc (AsyncHTTPClient).")
    var transport = TransportChoice.curl

    @Flag var version: HTTPVersionChoice?

    @Flag(
        name: [.customShort("k"), .customLong("insecure")],
        help: "Accept any server certificate. For tests on one's own machine."
    )
    var insecure = false

    @Option(
        help: ArgumentHelp("The certificates to trust instead of the system's, as PEM.", valueName: "FILE"),
        completion: .file()
    )
    var cacert: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time a connection may take, name and TLS included. Default: 10.", valueName: "S"),
        transform: Seconds.parsePositive
    )
    var connectTimeout: Seconds?

    @Option(
        name: [.customShort("x"), .customLong("proxy")],
        help: ArgumentHelp(
            "An http, https, socks4, socks4a, socks5 or socks5h proxy; HOST:PORT is an http one. The environment's proxies are not used.",
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

    @OptionGroup var targets: TargetOptions

    @Option(
        name: [.customShort("U"), .customLong("proxy-user")],
        parsing: .unconditional,
        help: ArgumentHelp("User and password for the proxy.", valueName: "USER:PASSWORD")
    )
    var proxyUser: String?

    /// The proxy; nil for none.
    func proxyURL() throws(InvalidOption) -> String? {
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
        guard let proxyVariable else {
            return try proxy.map { url throws(InvalidOption) in try RequestInput.proxy(url) }
        }
        guard proxy == nil else { throw InvalidOption("--proxy-env and --proxy contradict each other") }
        let url = try Environment.text(proxyVariable, for: "--proxy-env")
        return try RequestInput.proxy(url, option: "--proxy-env")
    }
}
