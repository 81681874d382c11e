/// What a store did that it must not do.
public struct ConformanceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was expected, and what came instead.
    public let description: String

    /// Creates a failure.
    public init(_ description: String) {
        self.description = description
    }
}
