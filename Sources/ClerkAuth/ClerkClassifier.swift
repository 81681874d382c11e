public import HTTPRecovery

public struct ClerkClassifier: OutcomeClassifier {
    public init() {}
    public func classify(_ exchange: Exchange) -> Outcome { HTTPClassifier().classify(exchange) }
}
