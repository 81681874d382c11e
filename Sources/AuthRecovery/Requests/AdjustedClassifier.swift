public import HTTPRecovery
public import HTTPTypes

/// A classifier for one call: what another says, adjusted by what the call is for.
///
/// "Not yet" is a failure of a sign-in and none of a poll; a one-time token counts as used whatever its answer was.
///
/// ```swift
/// let classifier = AdjustedClassifier(VendorClassifier()) { outcome, _ in
///     if outcome.kind == .challengePending { outcome.kind = .continue }
/// }
/// ```
public struct AdjustedClassifier: OutcomeClassifier {
    private let base: any OutcomeClassifier
    private let name: (@Sendable (HTTPRequest.Method, String) -> String)?
    private let adjust: @Sendable (inout Outcome, Exchange) -> Void

    /// Creates a classifier.
    ///
    /// - Parameters:
    ///   - base: What judges every call alike.
    ///   - name: Names the class of endpoints that shares limits with a method and a path; nil leaves that to the base.
    ///   - adjust: Adjusts the outcome; a pure function.
    public init(
        _ base: any OutcomeClassifier,
        endpointClass name: (@Sendable (HTTPRequest.Method, String) -> String)? = nil,
        _ adjust: @escaping @Sendable (inout Outcome, Exchange) -> Void
    ) {
        self.base = base
        self.name = name
        self.adjust = adjust
    }

    /// What the base says, adjusted.
    public func classify(_ exchange: Exchange) -> Outcome {
        var outcome = base.classify(exchange)
        adjust(&outcome, exchange)
        return outcome
    }

    /// The class of endpoints, by the base and the name.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        name?(method, path) ?? base.endpointClass(method: method, path: path)
    }
}
