public import HTTPTypes

/// Tells what an exchange came to, for one API.
///
/// A classifier is a pure function: it neither waits nor sends, and any bytes a server sends lead to an ``Outcome``.
/// It reads the body before the status, because real providers put errors into 200s and throttles into 400s.
public protocol OutcomeClassifier: Sendable {
    /// Tells what the exchange came to.
    func classify(_ exchange: Exchange) -> Outcome

    /// The name of the class of endpoints that shares limits with the request; by default method and path.
    func endpointClass(method: HTTPRequest.Method, path: String) -> String
}

extension OutcomeClassifier {
    /// Every pair of method and path is a class of its own.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        "\(method.rawValue) \(path)"
    }
}
