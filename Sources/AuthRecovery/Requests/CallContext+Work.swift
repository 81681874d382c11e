package import HTTPRecovery

extension CallContext {
    /// Work that is done for the call, such as asking what became of a credential: it names the call as its parent, and
    /// keeps to the call's bounds.
    package var work: RecoveryOperation {
        RecoveryOperation(for: self, until: deadline).bounded(longestWait: longestWait)
    }
}
