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
}
