public import HTTPRecovery
public import HTTPTypes

/// Tells what an exchange with an Okta org came to: its Authentication API, its sessions, its identity engine and its
/// OAuth 2 endpoints.
///
/// The error code of the body decides, then the word of an OAuth error or the key of an identity engine message, then
/// the status. Two things stand above every code: a 429 is a throttle, and nothing is refused by a 5xx. The texts of
/// errors are looked at only if a code has several meanings. Successes are read too: a transaction's status and its
/// factor's result may be a failure.
public struct OktaClassifier: OutcomeClassifier {
    /// Creates the classifier.
    public init() {}

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        guard case .response(let response, let body) = exchange.result else {
            return HTTPClassifier().classify(exchange)
        }
        let interpretation = ErrorInterpretation(exchange, response: response, body: body)
        var outcome = OktaInterpretation(interpretation).outcome
        outcome.status = interpretation.status
        outcome.traceID =
            response.headerFields.lines("x-okta-request-id").first?.nonEmpty?.bounded(to: 256)
            ?? interpretation.content.json?["errorId"]?.string?.nonEmpty?.bounded(to: 256) ?? outcome.traceID
        outcome.apply(interpretation.delay.hint)
        return outcome
    }

    /// The name of the class of endpoints that Okta counts together: the path, without the ids in it.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        OktaEndpoint(method: method, path: path).className
    }
}
