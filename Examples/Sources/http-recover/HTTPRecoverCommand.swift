import ArgumentParser
import CommandLineSupport
import HTTPRecovery

/// The options of the program, as they were written.
struct HTTPRecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http-recover",
        abstract: "Sends HTTP requests, waits when the server asks for it, and tries again where that is safe.",
        usage: "http-recover [options] URL…",
        discussion: HelpText.discussion,
        version: HelpText.version
    )

    @Argument(help: ArgumentHelp("http or https URLs, percent-encoded.", valueName: "URL"))
    var urls: [String] = []

    // Joined values (-XPOST) are accepted, and values that begin with a dash.
    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("request")],
        parsing: .unconditional,
        help: ArgumentHelp("The method. Default: GET, with -d POST.", valueName: "METHOD")
    )
    var method: String?

    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header field; can be given several times.", valueName: "'Name: value'")
    )
    var headers: [String] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .customLong("data")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            The body, or the file that holds it (@- is standard input), sent as it is. The content type is that of a \
            form unless a header says otherwise. Several texts are joined with &.
            """,
            valueName: "DATA|@FILE"
        )
    )
    var data: [String] = []

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp(
            "Where the body of a successful answer goes; the file appears when it is complete.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var output: String?

    @Option(
        name: [.customShort("C"), .customLong("continue-at")],
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            With -: goes on with what FILE (-o) holds of an earlier download, and with the rest if the transfer breaks off, \
            if the server takes ranges; what has come is kept.
            """,
            valueName: "-"
        )
    )
    var continueAt: String?

    @Flag(name: .long, help: "Follow redirects, at most \(Redirects().limit).")
    var location = false

    @Option(parsing: .unconditional, help: ArgumentHelp("The largest body to accept.", valueName: "BYTES"))
    var maxBody: Int?

    @OptionGroup(title: "Recovery") var recovery: RecoveryOptions

    @OptionGroup(title: "Credentials") var tokens: TokenOptions

    @OptionGroup(title: "Several calls") var calls: CallOptions

    @OptionGroup(title: "Connection") var connection: ConnectionOptions

    @OptionGroup(title: "What is told") var report: ReportOptions
}

/// Whether and how a failed request is sent again.
struct RecoveryOptions: ParsableArguments {
    // Every value is taken as one, with a dash in front too: its own check says what is wrong with it.
    @Option(parsing: .unconditional, help: ArgumentHelp("The most attempts, the first included.", valueName: "N"))
    var maxAttempts = 3

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time a call may take, with everything. Default: no limit.", valueName: "S"),
        transform: Seconds.parsePositive
    )
    var deadline: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time an attempt may take, its body included. Default: 30.", valueName: "S"),
        transform: Seconds.parsePositive
    )
    var attemptTimeout = Seconds(.seconds(30))

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The longest time without a byte in either direction. Default: any.", valueName: "S"),
        transform: Seconds.parsePositive
    )
    var idleTimeout: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The longest single wait. Default: 120.", valueName: "S"),
        transform: Seconds.parse
    )
    var maxWait = Seconds(.seconds(120))

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The first and the longest delay where the server states none.",
            valueName: "BASE,CAP"
        ),
        transform: BackoffRange.parse
    )
    var backoff: BackoffRange?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Sends an Idempotency-Key: auto makes a new one for each call, the same on each of its attempts; a VALUE is \
            sent as given. Default: none.
            """,
            valueName: "auto|none|VALUE"
        ),
        transform: IdempotencyKeyOption.parse
    )
    var idempotencyKey = IdempotencyKeyOption.none

    @Flag(help: "Sending the request twice does no harm: try again even when nobody knows whether it was processed.")
    var replayable = false

    @Flag(help: "Send once, whatever happens.")
    var noRecovery = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The retries that each call adds to the budget, 0 to 1.", valueName: "R")
    )
    var budgetRatio = 0.2

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The retries that are in the budget from the start.", valueName: "N")
    )
    var budgetBurst = 10

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Stops asking a server of whose last answers, in a minute or two attempts' time, so large a share (0 to 1) has \
            failed, and probes it after a while. Default: none.
            """,
            valueName: "RATIO,MIN_CALLS,OPEN_SECONDS"
        ),
        transform: BreakerOption.parse
    )
    var breaker: BreakerOption?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Sends an idempotent request once more if no answer has come in that time, and takes the first good one.",
            valueName: "S"
        ),
        transform: Seconds.parse
    )
    var hedge: Seconds?

    @OptionGroup var state: StateOptions

    @Option(help: "Whose errors to expect.")
    var provider = ProviderChoice.http
}

/// How many calls are made.
struct CallOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Makes each call so many times: all URLs once, then again.", valueName: "N")
    )
    var `repeat` = 1

    @Option(parsing: .unconditional, help: ArgumentHelp("The most calls at the same time.", valueName: "N"))
    var concurrency = 1
}

/// How the connection is made.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "What performs the requests: curl (libcurl) or ahc (AsyncHTTPClient).")
    var transport = TransportChoice.curl

    @Flag var version: HTTPVersionChoice?

    @Flag(help: "Accept any server certificate. For tests on one's own machine.")
    var insecure = false

    @Option(
        help: ArgumentHelp("The certificates to trust instead of the system's, as PEM.", valueName: "FILE"),
        completion: .file()
    )
    var cacert: String?

    @Option(
        help: ArgumentHelp(
            "An http, https, socks4, socks4a, socks5 or socks5h proxy. The environment's proxies are not used.",
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

    /// The proxy; nil for none.
    func proxyURL() throws(InvalidOption) -> String? {
        guard let proxyVariable else {
            return try proxy.map { url throws(InvalidOption) in try RequestInput.proxy(url) }
        }
        guard proxy == nil else { throw InvalidOption("--proxy-env and --proxy contradict each other") }
        let url = try Environment.text(proxyVariable, for: "--proxy-env")
        return try RequestInput.proxy(url, option: "--proxy-env")
    }
}

/// What the program tells besides the body.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Writes events as JSON Lines; the file is emptied first. With - they go to standard error, alone.",
            valueName: "FILE|-"
        ),
        completion: .file()
    )
    var events: String?

    @Option(
        help: ArgumentHelp(
            "Writes what was decided in each call and by what; 'http-recover replay FILE' decides it again.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var record: String?

    @Flag(help: "Counts calls, attempts and waits on standard error at the end.")
    var summary = false

    @Flag(help: "Tells the phases of each attempt on standard error when its call has ended.")
    var timings = false

    @Option(
        name: [.customShort("w"), .customLong("write-out")],
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Writes a text when a call has ended, with curl's variables: '%{http_code} %{time_total}\\n'. With @FILE the \
            text stands in a file, @- is standard input.
            """,
            valueName: "FORMAT|@FILE"
        )
    )
    var writeOut: String?

    @OptionGroup var telling: TellingOptions
}
