public import HTTPRecovery
public import HTTPTypes

/// Tells what an exchange with Clerk's Frontend API came to.
///
/// The first error that has a known code decides, else the first one; an unknown code and a body that holds no error
/// leave it to the status: a 401 with an unknown code is `unknown`, and reading the client tells whether the session lives.
/// Successes are read too: they tell where a sign-in stands, and may carry a failure.
///
/// The token action is about the client token, and follows from the answer's `Authorization` field alone: a value
/// replaces the token on any answer, a blank one (or the bare word `Bearer`) clears it, and no status or error code does.
/// A blank one counts only on an answer of Clerk's API itself that is no outage and no limit. At the OAuth endpoints the
/// action is about the token or code that was presented, as `OAuthClassifier` has it.
public struct ClerkClassifier: OutcomeClassifier {
    /// Creates the classifier.
    public init() {}

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        guard case .response(let response, let body) = exchange.result else {
            return HTTPClassifier().classify(exchange)
        }
        let interpretation = ErrorInterpretation(exchange, response: response, body: body)
        let endpoint = ClerkEndpoint(method: exchange.method, path: exchange.path)
        var outcome = ClerkInterpretation(interpretation, endpoint: endpoint).outcome
        outcome.status = interpretation.status
        outcome.traceID =
            interpretation.content.json?["clerk_trace_id"]?.string?.nonEmpty?.bounded(to: 256)
            ?? response.headerFields.lines("cf-ray").first?.nonEmpty?.bounded(to: 256)
        switch ClientToken.change(statedBy: response.headerFields) {
        case .replace: outcome.tokenAction = .rotate
        case .clear where Self.decides(outcome, interpretation): outcome.tokenAction = .clear
        case .clear, nil: break
        }
        outcome.apply(interpretation.delay.hint)
        return outcome
    }

    /// The name of the class of endpoints that Clerk counts together: creating or attempting a sign-in or sign-up;
    /// elsewhere method and path without the ids in it.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        ClerkEndpoint(method: method, path: path).className
    }

    /// Whether an answer may take the token away: nothing does that is an outage, a limit, or not the API's own.
    private static func decides(_ outcome: Outcome, _ interpretation: ErrorInterpretation) -> Bool {
        switch interpretation.content {
        // Clerk answers with an object, or with nothing.
        case .empty, .json(.object): break
        case .json, .markup, .other: return false
        }
        let isOwn = outcome.kind != .unreadable && !(300..<400).contains(interpretation.status)
        return isOwn && !interpretation.isOutage && interpretation.status != 429
    }
}
