public import HTTPTypes

/// Tells what an exchange came to, for one API.
///
/// A classifier is a pure function: it neither waits nor sends, and any bytes a server sends lead to an ``Outcome``.
/// It reads the body before the status, because real providers put errors into 200s and throttles into 400s.
public protocol OutcomeClassifier: Sendable {
    /// Tells what the exchange came to.
    func classify(_ exchange: Exchange) -> Outcome

    /// Tells what a response comes to that needs no closer look: the same as ``classify(_:)`` would say, by the status and
    /// the fields alone; nil, as by default, if request, body or time may have a say.
    ///
    /// It is asked first, since most answers are plain successes.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The header fields.
    func outcome(ofStatus status: Int, fields: HTTPFields) -> Outcome?

    /// The name of the class of endpoints that shares limits with the request; by default method and path.
    func endpointClass(method: HTTPRequest.Method, path: String) -> String
}

extension OutcomeClassifier {
    /// Every response is looked at closely.
    public func outcome(ofStatus status: Int, fields: HTTPFields) -> Outcome? { nil }

    /// Every pair of method and path is a class of its own.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        "\(method.rawValue) \(path)"
    }
}
