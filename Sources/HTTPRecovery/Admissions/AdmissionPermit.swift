/// What an ``Admission`` has taken for one attempt, until it is told how that ended.
public struct AdmissionPermit: Sendable {
    /// What the admission knows it by.
    public let value: any Sendable

    /// Whether it is kept while the call waits for something else.
    ///
    /// A payment or a place in a line is kept. What others could use meanwhile, such as a slot of a concurrency limit,
    /// is not: it is given back, and asked for again when the attempt is due.
    public let isKeptWhileWaiting: Bool

    /// Creates a permit.
    ///
    /// - Parameters:
    ///   - value: What the admission knows it by.
    ///   - isKeptWhileWaiting: Whether it is kept while the call waits for something else. Default: it is.
    public init(_ value: any Sendable, isKeptWhileWaiting: Bool = true) {
        self.value = value
        self.isKeptWhileWaiting = isKeptWhileWaiting
    }
}
