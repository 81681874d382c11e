public import HTTPTypes

/// Tells what an exchange with any HTTP server came to.
///
/// It knows nothing of a provider: it reads the status, the fields that state delays and limits, the bearer challenges
/// of RFC 6750, 9449 and 9470, and problem details (RFC 9457). A body counts if it is problem details; any other
/// body, an HTML page too, leaves the decision to the status.
public struct HTTPClassifier: OutcomeClassifier {
    /// Creates the classifier.
    public init() {}

    /// Tells what a success comes to that states no time.
    ///
    /// When to look again for an accepted job, and when to follow a redirect, is looked for; other successes want no wait.
    public func outcome(ofStatus status: Int, fields: HTTPFields) -> Outcome? {
        guard status < 300, status != 202, Self.isAccepted(status, fields) else { return nil }
        return Outcome(.ok, processed: .yes, status: status)
    }

    private static func isAccepted(_ status: Int, _ fields: HTTPFields) -> Bool {
        (200..<400).contains(status) && !Exchange.ProblemDetails.isDeclared(by: fields)
    }

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        switch exchange.result {
        case .failure(let error):
            return .transport(error)
        case .response(let response, let body):
            let status = response.status.code
            if let outcome = outcome(ofStatus: status, fields: response.headerFields) { return outcome }
            if Self.isAccepted(status, response.headerFields) {
                var outcome = Outcome(.ok, processed: .yes, status: status)
                outcome.retryAfter = ServerDelay(response, receivedAt: exchange.now).delay
                return outcome
            }
            return HTTPInterpretation(ErrorInterpretation(exchange, response: response, body: body)).outcome
        }
    }
}

/// One error response on its way to an outcome.
struct HTTPInterpretation {
    let reading: ErrorInterpretation
    let problem: Exchange.ProblemDetails?
    /// The status that decides: the response's own, or that of the problem in a successful one.
    let status: Int
    let limits: RateLimitFields
    let words: HTTPErrorWords

    init(_ reading: ErrorInterpretation) {
        var reading = reading
        let object = reading.content.json
        let problem = object.flatMap { value in
            let isDeclared = Exchange.ProblemDetails.isDeclared(by: reading.fields)
            return isDeclared || Self.looksLikeProblem(value) ? Exchange.ProblemDetails(value) : nil
        }
        var status = reading.status
        if (200..<400).contains(status), let meant = problem?.status, (400..<600).contains(meant) { status = meant }
        if status != reading.status || problem?.quotaType == .exceeded {
            let isThrottle = status == 429 || problem?.quotaType == .exceeded ? true : nil
            reading.delay = ServerDelay(reading.response, receivedAt: reading.exchange.now, isThrottle: isThrottle)
        }
        self.reading = reading
        self.problem = problem
        self.status = status
        self.limits = RateLimitFields(reading.fields)
        self.words = HTTPErrorWords(reading.content, problem: problem, status: status)
    }

    /// Whether an object whose type is not declared has the members of a problem.
    private static func looksLikeProblem(_ value: JSONValue) -> Bool {
        value["type"]?.string?.contains(":") == true && (value["title"] != nil || value["status"] != nil)
    }

    var outcome: Outcome {
        if (200..<400).contains(status) { return Outcome(.ok, processed: .yes, status: reading.status) }
        var outcome = byProblem ?? byChallenge ?? byStatus
        if (200..<400).contains(reading.status) { outcome.processed = .yes }
        outcome.status = reading.status
        outcome.retryAfter = outcome.retryAfter ?? reading.delay.delay
        if outcome.retryAfter != nil { outcome.delayForm = reading.delay.form }
        outcome.code = outcome.code ?? words.code
        outcome.message = outcome.message ?? words.message
        outcome.traceID = reading.traceID
        if outcome.kind == .invalidRequest { outcome.parameter = outcome.parameter ?? parameter }
        outcome.apply(reading.delay.hint)
        return outcome
    }

    /// What the registered problem types of the rate-limit draft say; any other type leaves it to the status.
    private var byProblem: Outcome? {
        switch problem?.quotaType {
        case .exceeded:
            let window = limits.window(ofPolicies: problem?.violatedPolicies ?? [])
            return .throttled(reading, scope: .origin, window: window)
        case .reducedCapacity where status != 429:
            return .unavailable(reading)
        case .abnormalUsage where status != 429:
            return Outcome(.policyBlocked, processed: reading.processed)
        default:
            return nil
        }
    }

    private var parameter: String? {
        if let parameter = problem?.parameter { return parameter.bounded(to: 256) }
        guard let body = reading.content.json else { return nil }
        for holder in [body, body["error"], body["errors"]?[0], body["details"]?[0]] {
            for key in ["param", "parameter", "field"] {
                if let name = holder?[key]?.string?.nonEmpty { return name.bounded(to: 256) }
            }
        }
        return nil
    }
}
