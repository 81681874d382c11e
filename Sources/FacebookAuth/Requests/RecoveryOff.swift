public import HTTPRecovery

extension StopReason {
    /// Recovery from errors is switched off.
    public static let recoveryOff = StopReason(rawValue: "recovery_off")
}

/// Ends a call with its first failure; what a server has stated is waited for all the same.
struct RecoveryOff: RecoveryPolicy {
    func decide(_ situation: Situation) -> Decision {
        situation.wasSent ? .giveUp(.recoveryOff) : .pass
    }
}
