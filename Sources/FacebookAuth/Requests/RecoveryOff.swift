import HTTPRecovery

/// Ends a call with its first failure; what a server has stated is waited for all the same.
struct RecoveryOff: RecoveryPolicy {
    func decide(_ failure: FailureContext) -> FailureContext.Decision {
        failure.wasSent ? .giveUp(.recoveryOff) : .pass
    }
}
