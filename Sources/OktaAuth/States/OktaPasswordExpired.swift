/// The password has expired and has to be changed.
public struct OktaPasswordExpired: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// Changes the password.
    public var changePassword: OktaStep<OktaPasswordChange>? {
        stage.attempt(stage.links.next("changePassword")) { $0.members }
    }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
