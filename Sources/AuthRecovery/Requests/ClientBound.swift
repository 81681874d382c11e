package import HTTPRecovery

/// A value that makes its calls by a client, and can make them by another one.
package protocol ClientBound {
    /// The client.
    var client: RecoveringClient { get set }
}

extension ClientBound {
    /// What time is told by.
    package var time: TimeSource { client.runtime.time }

    /// The same, for calls that belong to the operation.
    package func within(_ operation: RecoveryOperation) -> Self {
        var bound = self
        bound.client = client.within(operation)
        return bound
    }

    /// The same, for calls that wait no longer than that at a time.
    package func waiting(atMost limit: Duration?) -> Self {
        var bound = self
        bound.client = client.waiting(atMost: limit)
        return bound
    }
}
