/// The account is locked.
public struct OktaLockedOut: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// Begins to unlock the account.
    public var unlock: OktaStep<OktaRecoveryRequest>? {
        (stage.links.next("unlock") ?? stage.links["unlock"].first).map { link in
            var step = OktaStep<OktaRecoveryRequest>(link: link, api: stage.api, stateToken: nil) { $0.members }
            step.purpose = .sending
            return step
        }
    }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
