import AsyncHTTPClientTransport
import CommandLineSupport
import CurlTransport
import HTTPRecovery
import HTTPTypes

/// What is to be done, checked: once there is a plan, requests can be sent.
struct CallPlan: Sendable {
    /// The requests of one round.
    let requests: [HTTPRequest]
    /// The body of each.
    let body: MessageBody?
    /// How often each request is sent.
    let rounds: Int
    /// How many calls run at a time.
    let concurrency: Int
    /// Where the body goes; nil is standard output.
    let output: String?
    /// Whether a download goes on with what there is of it.
    let resumes: Bool
    /// The most bytes of a body.
    let maxBody: Int?
    /// Whether redirects are followed.
    let followsRedirects: Bool
    /// How failures are treated.
    let recovery: RecoveryOptions
    /// The credentials that requests carry; nil for none.
    let tokens: TokenPlan?
    /// What performs the attempts.
    let transport: TransportPlan
    /// What is told.
    let report: ReportOptions
    /// What is written when a call has ended; nil for nothing.
    let writeOut: WriteOutFormat?

    /// Whether somebody wants to know how the time of an attempt was spent.
    var measures: Bool { report.timings || writeOut != nil }

    /// The number of calls.
    var total: Int { requests.count * rounds }

    /// Checks the options and opens what they name for reading.
    init(_ command: HTTPRecoverCommand) throws {
        try Self.check(command)
        self.rounds = command.calls.repeat
        self.concurrency = command.calls.concurrency
        self.maxBody = command.maxBody
        self.followsRedirects = command.location
        self.recovery = command.recovery
        self.report = command.report
        self.output = command.output == "-" ? nil : command.output
        self.resumes = command.continueAt != nil
        switch command.connection.transport {
        case .curl: self.transport = .curl(try Self.curl(command))
        case .ahc: self.transport = .ahc(try Self.ahc(command))
        }
        if command.report.writeOut == "@-", command.data.contains("@-") {
            throw InvalidOption("-w @- and -d @- cannot both read standard input")
        }
        self.writeOut = try command.report.writeOut.map { text in try RequestInput.format(text) }

        var fields = HTTPFields()
        guard command.headers.count <= 1000 else { throw InvalidOption("-H: more than 1000 header fields") }
        for text in command.headers { fields.append(try Self.field(text)) }
        if command.recovery.idempotencyKey != .none, fields.contains(.idempotencyKey) {
            throw InvalidOption("--idempotency-key and a header field Idempotency-Key contradict each other")
        }
        if !command.data.isEmpty, !fields.contains(.contentType) {
            fields[.contentType] = "application/x-www-form-urlencoded"
        }
        // Without these some servers refuse a request.
        if !fields.contains(.accept) { fields[.accept] = "*/*" }
        if !fields.contains(.userAgent) {
            fields[.userAgent] = "http-recover/\(HelpText.version)"
        }
        let name = command.method ?? (command.data.isEmpty ? "GET" : "POST")
        guard let method = HTTPRequest.Method(name), method != .connect else {
            throw InvalidOption("-X: \(name.prefix(40)) is no method that can be sent")
        }
        if method == .head, !command.data.isEmpty { throw InvalidOption("a HEAD request cannot have a body (-d)") }
        var requests: [HTTPRequest] = []
        for url in command.urls { requests.append(try RequestInput.request(url: url, method: method, fields: fields)) }
        self.requests = requests
        self.tokens = try TokenPlan(command.tokens, requests: requests)
        if tokens != nil, fields.contains(.authorization) {
            throw InvalidOption("--token-file and a header field Authorization contradict each other")
        }
        self.body = try RequestInput.body(command.data)
        if resumes, total > 1 || method != .get || fields.contains(.range) {
            throw InvalidOption("-C goes on with a single GET request without a Range of its own")
        }
        if output != nil, total > 1 { throw InvalidOption("-o takes the body of a single request, not of several") }
    }

    private static func field(_ text: String) throws(InvalidOption) -> HTTPField {
        do {
            return try HeaderOption.parse(text)
        } catch {
            throw InvalidOption("-H: \(error.description)")
        }
    }

    private static func check(_ command: HTTPRecoverCommand) throws(InvalidOption) {
        if command.urls.isEmpty { throw InvalidOption("a URL is missing: what shall be requested?") }
        let million = 1_000_000
        let numbers = [
            ("--max-attempts", command.recovery.maxAttempts, 1...1000),
            ("--repeat", command.calls.repeat, 1...million),
            ("--concurrency", command.calls.concurrency, 1...10_000),
            ("--budget-burst", command.recovery.budgetBurst, 0...million),
            ("--max-body", command.maxBody ?? 0, 0...Int.max),
        ]
        for (name, number, range) in numbers where !range.contains(number) {
            let bound =
                range.upperBound == .max ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
            throw InvalidOption("\(name): \(number) is out of range, which is \(bound)")
        }
        if command.report.record != nil, command.recovery.noRecovery {
            throw InvalidOption("--record and --no-recovery contradict each other: nothing is decided without recovery")
        }
        if command.recovery.noRecovery, command.recovery.breaker != nil || command.recovery.hedge != nil {
            throw InvalidOption("--breaker and --hedge need the recovery that --no-recovery switches off")
        }
        if command.recovery.timeout.problem(among: []) != nil {
            throw InvalidOption("--idle-timeout is to be shorter than --attempt-timeout, or it never ends an attempt")
        }
        if let offset = command.continueAt {
            guard offset == "-" else { throw InvalidOption("-C: write -C -, which goes on where the file ends") }
            if command.recovery.hedge != nil { throw InvalidOption("-C and --hedge contradict each other") }
        }
        guard (0...1).contains(command.recovery.budgetRatio) else {
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
        case nil: configuration.httpVersion = .automatic
        }
        if let file = options.cacert {
            try RequestInput.checkReadable(file)
            configuration.caFile = file
        }
        configuration.reportsMetrics = command.report.timings || command.report.writeOut != nil
        try options.targets.apply(to: &configuration)
        if let proxy = try options.proxyURL() {
            configuration.proxy = .url(proxy, except: options.targets.hostsWithoutProxy)
        } else if options.targets.noproxy != nil {
            throw InvalidOption("--noproxy belongs to --proxy or --proxy-env")
        }
        if let problem = configuration.problem { throw InvalidOption("the connection: \(problem)") }
        return configuration
    }

    private static func ahc(_ command: HTTPRecoverCommand) throws -> AsyncHTTPClientTransport.Configuration {
        let options = command.connection
        // What it cannot do is refused, and never left out in silence.
        let measuring = command.report.timings ? "--timings" : command.report.writeOut.map { _ in "-w" }
        if let name = options.targets.firstWritten ?? measuring {
            throw InvalidOption("\(name) needs --transport curl")
        }
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.maxConnectionsPerOrigin = max(64, command.calls.concurrency)
        configuration.isCertificateVerificationDisabled = options.insecure
        // It offers HTTP/2 by itself.
        if options.version == .http1 { configuration.httpVersion = .http1 }
        if let file = options.cacert {
            try RequestInput.checkReadable(file)
            configuration.caFile = file
        }
        if let url = try options.proxyURL() {
            let option = options.proxyVariable == nil ? "--proxy" : "--proxy-env"
            let proxy = AsyncHTTPClientTransport.Proxy.url(url)
            if let problem = proxy.problem { throw InvalidOption("\(option) with --transport ahc: \(problem)") }
            configuration.proxy = proxy
        }
        return configuration
    }
}
