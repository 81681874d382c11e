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
            var outcome = HTTPClassifier().classify(exchange)
            outcome.readInsteadOfRepeating(OktaEndpoint(method: exchange.method, path: exchange.path))
            return outcome
        }
        let interpretation = ErrorInterpretation(exchange, response: response, body: body)
        let okta = OktaInterpretation(interpretation)
        var outcome = okta.outcome
        outcome.readInsteadOfRepeating(okta.endpoint)
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

extension Outcome {
    /// Takes a resend out of what may help after a step of the identity engine that may have been taken: an answer may
    /// have counted as an attempt or be used up, a message may have gone out.
    ///
    /// Where the flow stands can be read, and tells what became of the step.
    fileprivate mutating func readInsteadOfRepeating(_ endpoint: OktaEndpoint) {
        guard [.transport, .timedOut, .unavailable].contains(kind), processed != .no, endpoint.isSpendingStep else {
            return
        }
        if kind == .unavailable, !remedies.contains(.retry), !remedies.contains(.wait) { return }
        // A code of Okta's that says to wait: an org that is read-only for now has taken nothing.
        let isHeldBack = remedies.contains(.wait) && retryAfter == nil
        remedies = isHeldBack ? [.wait] : [.resync]
    }
}
