public import HTTPRecovery
public import HTTPTypes

/// Tells what an exchange with Facebook's Graph API came to, and with the products on it (ads, pages, Instagram,
/// WhatsApp, Threads).
///
/// The body decides, in this order: what WhatsApp, Instagram and Messenger say by codes of their own, limits, refused tokens, what the person has to settle at Facebook, the vendor's
/// table, permissions, the server's own word that an error is transient, its general errors, errors of the request. The status decides only if
/// no error with a known meaning can be read, except that a 429 is a limit whatever its body says and that no 5xx takes a token away. Successes
/// are read too: many an error comes with status 200. The answers of a batch are judged one by one.
public struct FacebookClassifier: OutcomeClassifier {
    /// The vendor's table, for codes that are no limit, refuse no token and send nobody to Facebook; nil asks none.
    public var errors: FacebookErrorConfiguration?

    /// Creates the classifier.
    ///
    /// - Parameter errors: The vendor's table, such as a server has sent it. Default: none.
    public init(errors: FacebookErrorConfiguration? = nil) {
        self.errors = errors
    }

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        guard case .response(let response, let body) = exchange.result else {
            return HTTPClassifier().classify(exchange)
        }
        let facebook = FacebookInterpretation(
            ErrorInterpretation(exchange, response: response, body: body),
            errors: errors
        )
        var outcome = facebook.outcome
        outcome.status = response.status.code
        outcome.traceID = facebook.traceID ?? outcome.traceID
        outcome.apply(facebook.interpretation.delay.hint)
        return outcome
    }

    /// The name of the class of endpoints that Facebook counts together: a business limit holds for one object and one
    /// type of use, whatever the call.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        FacebookEndpoint(method: method, path: path).className
    }
}
