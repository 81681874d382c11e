public import HTTPRecovery
public import HTTPTypes

/// Tells what an exchange with Clerk's Frontend API came to.
///
/// The first error that has a known code decides, else the first one; an unknown code and a body that holds no error
/// leave it to the status. Successes are read too: they tell where a sign-in stands, and may carry a failure.
///
/// The token action is about the client token, and follows from the answer's `Authorization` field alone: a value
/// replaces the token, a blank one (or the bare word `Bearer`) clears it, and no status or error code does.
public struct ClerkClassifier: OutcomeClassifier {
    /// Creates the classifier.
    public init() {}

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        guard case .response(let response, let body) = exchange.result else {
            return HTTPClassifier().classify(exchange)
        }
        let reading = ErrorReading(exchange, response: response, body: body)
        let endpoint = ClerkEndpoint(method: exchange.method, path: exchange.path)
        var outcome = ClerkReading(reading, endpoint: endpoint).outcome
        outcome.status = reading.status
        outcome.traceID =
            reading.content.json?["clerk_trace_id"]?.string?.nonEmpty?.bounded(to: 256)
            ?? response.headerFields.lines("cf-ray").first?.nonEmpty?.bounded(to: 256)
        if let action = Self.tokenAction(response.headerFields) { outcome.tokenAction = action }
        outcome.apply(reading.delay.hint)
        return outcome
    }

    /// The name of the class of endpoints that Clerk counts together: creating or attempting a sign-in or sign-up;
    /// elsewhere method and path without the ids in it.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        ClerkEndpoint(method: method, path: path).className
    }

    /// What the answer's `Authorization` field does to the client token; nil where the answer has none.
    private static func tokenAction(_ fields: HTTPFields) -> Outcome.TokenAction? {
        let lines = fields.lines("authorization")
        if lines.isEmpty { return nil }
        let isBlank = lines.allSatisfy { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            return words.isEmpty || (words.count == 1 && words[0].lowercased() == "bearer")
        }
        return isBlank ? .clear : .rotate
    }
}
