import AsyncHTTPClientTransport
import CommandLineSupport
import CurlTransport
import HTTPRecovery
import HTTPTypes

/// What is to be done, checked: once there is a plan, requests can be sent.
struct CallPlan: Sendable {
    /// The requests of one round.
    let requests: [HTTPRequest]
    /// Their URLs as they were written, without user and password.
    let asked: [String]
    /// The body of each.
    let body: MessageBody?
    /// How often each request is sent.
    let rounds: Int
    /// How many calls run at a time.
    let concurrency: Int
    /// Where the answers go.
    let outputs: OutputPlan
    /// The redirects that are followed; nil for none.
    let redirects: Redirects?
    /// How failures are treated, as it was written.
    let recovery: RecoveryOptions
    /// Where limits and budgets are remembered.
    let state: StateOptions
    /// What that comes to, with the policy of a file.
    let settings: RecoveringClient.Settings
    /// What is decided by.
    let policies: PolicyChoice
    /// The credentials that requests carry; nil for none.
    let tokens: TokenPlan?
    /// What performs the attempts.
    let transport: TransportPlan
    /// What is told.
    let report: ReportOptions
    /// How much of it, and how.
    let telling: TellingOptions
    /// What is written when a call has ended; nil for nothing.
    let writeOut: WriteOutFormat?

    /// Whether somebody wants to know more of an attempt than its answer.
    let measures: Bool

    /// The largest retry budget that the option takes.
    static let largestBurst = 1_000_000

    /// Whether the time for retries ends before the call's.
    var retriesEndFirst: Bool {
        guard let limit = recovery.retryTime else { return false }
        return settings.deadline.map { limit < $0 } ?? true
    }

    /// The limits of time and what sets each, the call's first; what is not written on the command line, a policy may have.
    var timeLimits: [(bound: TimeBound, time: Duration?)] {
        func name(_ option: String, _ value: Seconds?, _ key: String) -> String {
            value == nil && recovery.policy != nil ? "The policy's \(key)" : option
        }
        let deadline = name("--deadline", recovery.callTime, "deadline_s")
        let attempt = name("--attempt-timeout", recovery.attemptTimeout, "attempt_timeout_s")
        let idleness = name("--idle-timeout", recovery.idleTimeout, "idle_timeout_s")
        return [
            (TimeBound(.call, setBy: deadline), settings.deadline),
            (TimeBound(.connection, setBy: "--connect-timeout"), transport.connectTimeout),
            (TimeBound(.attempt, setBy: attempt), settings.timeout.limit),
            (TimeBound(.idleness, setBy: idleness), settings.idleTimeout),
        ]
    }

    /// Whether redirects are followed.
    var followsRedirects: Bool { redirects != nil }

    /// Whether bodies go out as they come; else they are whole, or 1 MiB of them is there, before they do: what a provider
    /// means by a success may stand in its body, and of hedges the first good answer counts.
    var streams: Bool { outputs.writesAtOnce || (recovery.provider == .http && settings.hedging == nil) }

    /// How long the beginning of a body is held, so that one that breaks off in it can be asked for again; nil for not at
    /// all.
    var holdsFor: Duration? {
        guard streams, !outputs.writesAtOnce, !outputs.resumes else { return nil }
        // What is held moves nothing.
        return min(HeldBody.standardTime, settings.idleTimeout.map { $0 / 2 } ?? HeldBody.standardTime)
    }

    /// The number of calls.
    var total: Int { requests.count * rounds }

    /// Checks the options and opens what they name for reading.
    ///
    /// - Parameters:
    ///   - command: The options.
    ///   - words: The same in their order.
    init(_ command: HTTPRecoverCommand, _ words: CommandWords) throws {
        try Self.check(command)
        self.rounds = command.calls.repeat
        self.concurrency = command.calls.concurrency
        self.redirects = command.target.location ? Redirects(limit: command.target.maxRedirs ?? Redirects().limit) : nil
        self.recovery = command.recovery
        self.state = command.state
        let policy = try command.recovery.policy.map { path in try PolicyFile(contentsOf: path) }
        self.settings = command.recovery.settings(policy)
        if settings.timeout.problem(among: []) != nil {
            throw InvalidOption("--idle-timeout is to be shorter than --attempt-timeout, or it never ends an attempt")
        }
        self.report = command.report
        self.telling = command.telling
        self.outputs = try OutputPlan(command, words)
        if outputs.resumes, settings.hedging != nil { throw InvalidOption("-C and --hedge contradict each other") }
        self.measures = command.report.timings || command.report.writeOut != nil
        self.writeOut = try command.report.writeOut.map { text in try RequestInput.format(text) }
        var transport: TransportPlan
        switch command.connection.transport {
        case .curl: transport = .curl(try Self.curl(command))
        case .ahc: transport = .ahc(try Self.ahc(command, writeOut))
        }

        let uploads = words.options.count { $0.name == "--upload-file" }
        if uploads > 1 || (uploads == 1 && command.urls.count > 1) {
            throw InvalidOption("-T sends one file to one URL; run the program once for each")
        }
        let content = try RequestContent(command.content, words)
        if content.body != nil, command.fields.range != nil {
            throw InvalidOption("-r asks for a part of an answer; -H 'Content-Range: …' says which part a body is")
        }
        let (fields, leftOut) = try command.fields.fields(content: content)
        if leftOut.contains(.acceptEncoding) { transport.leaveBodiesEncoded() }
        self.transport = transport
        if command.recovery.idempotencyKey != .none, fields.contains(.idempotencyKey) {
            throw InvalidOption("--idempotency-key and a header field Idempotency-Key contradict each other")
        }
        let name = command.target.method ?? (command.outputs.head ? "HEAD" : content.method.rawValue)
        guard let method = HTTPRequest.Method(name), method != .connect else {
            throw InvalidOption("-X: \(name.prefix(40)) is no method that can be sent")
        }
        if method == .head || command.outputs.head, content.body != nil {
            throw InvalidOption("a HEAD request cannot have a body (-d); with -G it goes into the URL")
        }
        var requests: [HTTPRequest] = []
        for url in command.urls {
            guard command.target.proto?.allows(url) ?? true else {
                throw InvalidOption("--proto: a URL has a protocol that it leaves out")
            }
            let place = command.target.pathAsIs ? url : DotSegments.removed(from: url)
            requests.append(try RequestInput.request(url: content.url(place), method: method, fields: fields))
        }
        self.requests = requests
        self.asked = command.urls.map { RequestInput.withoutUser(content.url($0)) }
        self.tokens = try TokenPlan(command.tokens, requests: requests)
        if tokens != nil, fields.contains(.authorization) {
            throw InvalidOption("--token-file and a header field Authorization (-u) contradict each other")
        }
        self.policies = PolicyChoice(command.recovery, policy, settings, renews: tokens != nil)
        // Without it nothing could be sent with a token, nor renewed.
        if let tokens { try RequestInput.checkReadable(tokens.file) }
        self.body = content.body
        if outputs.resumes, method != .get || fields.contains(.range) {
            throw InvalidOption("-C goes on with a single GET request without a Range of its own")
        }
    }

    /// Whether somebody wants to know more of an attempt than its answer; of a head the version of HTTP is a part.
    private static func needsMetrics(_ command: HTTPRecoverCommand) -> Bool {
        let (report, outputs) = (command.report, command.outputs)
        return report.timings || report.writeOut != nil || outputs.include || outputs.head || outputs.dumpHeader != nil
            || command.telling.isVerbose
    }

    private static func check(_ command: HTTPRecoverCommand) throws(InvalidOption) {
        guard !command.urls.isEmpty, !command.urls.contains("") else {
            throw InvalidOption("a URL is missing\(command.urls.isEmpty ? "" : " or empty"): what shall be requested?")
        }
        let million = 1_000_000
        let numbers = [
            ("--max-attempts", command.recovery.maxAttempts ?? 1, 1...1000),
            ("--retry", command.recovery.retry ?? 0, 0...999),
            ("--max-redirs", command.target.maxRedirs ?? 0, 0...1000),
            ("--repeat", command.calls.repeat, 1...million),
            ("--concurrency", command.calls.concurrency, 1...10_000),
            ("--budget-burst", command.recovery.budgetBurst ?? 0, 0...largestBurst),
            ("--max-body", command.outputs.maxBody ?? 0, 0...Int.max),
            ("--max-filesize", command.outputs.maxFilesize ?? 0, 0...Int.max),
        ]
        for (name, number, range) in numbers where !range.contains(number) {
            let bound =
                range.upperBound == .max ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
            throw InvalidOption("\(name): \(number) is out of range, which is \(bound)")
        }
        if command.report.record != nil, command.recovery.noRecovery {
            throw InvalidOption("--record and --no-recovery contradict each other: nothing is decided without recovery")
        }
        try command.recovery.check()
        if command.outputs.maxBody != nil, command.outputs.maxFilesize != nil {
            throw InvalidOption("--max-filesize is --max-body: write one of them")
        }
        guard (0...1).contains(command.recovery.budgetRatio ?? 0) else {
            throw InvalidOption("--budget-ratio: write a number from 0 to 1")
        }
    }

    private static func curl(_ command: HTTPRecoverCommand) throws -> CurlTransport.Configuration {
        let options = command.connection
        var configuration = CurlTransport.Configuration()
        configuration.maxConnectionsPerOrigin = max(64, command.calls.concurrency)
        configuration.isCertificateVerificationDisabled = options.insecure
        switch options.version {
        case .http1: configuration.httpVersion = .http1
        case .http2: configuration.httpVersion = .http2
        case .http3:
            guard CurlTransport.HTTPVersion.http3.isAvailable else {
                throw InvalidOption("--http3: the libcurl of this machine does not speak HTTP/3")
            }
            configuration.httpVersion = .http3
        case nil: configuration.httpVersion = .automatic
        }
        configuration.reportsMetrics = needsMetrics(command)
        try command.network.apply(to: &configuration)
        return configuration
    }

    private static func ahc(
        _ command: HTTPRecoverCommand,
        _ format: WriteOutFormat?
    ) throws -> AsyncHTTPClientTransport.Configuration {
        let (options, network) = (command.connection, command.network)
        // What it cannot do is refused, and never left out in silence.
        let version = options.version == .http3 ? "--http3" : nil
        let times = format?.timeOfConnecting.map { "-w with %{\($0)}" }
        if let name = network.firstOfCurlAlone ?? times ?? version {
            throw InvalidOption("\(name) needs --transport curl")
        }
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.reportsMetrics = needsMetrics(command)
        configuration.maxConnectionsPerOrigin = max(64, command.calls.concurrency)
        configuration.isCertificateVerificationDisabled = options.insecure
        if let limit = network.connectionTime { configuration.connectTimeout = limit }
        // It offers HTTP/2 by itself.
        if options.version == .http1 { configuration.httpVersion = .http1 }
        if let file = network.cacert {
            try RequestInput.checkReadable(file)
            configuration.caFile = file
        }
        if let url = try network.proxyURL() {
            let proxy = AsyncHTTPClientTransport.Proxy.url(url)
            if let problem = proxy.problem {
                throw InvalidOption("\(network.proxyOption) with --transport ahc: \(problem)")
            }
            configuration.proxy = proxy
        }
        return configuration
    }
}
