/// A new password is wanted, without the old one.
public struct OktaPasswordResetting: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// Sets the password.
    public var resetPassword: OktaStep<OktaPasswordReset>? {
        stage.attempt(stage.links.next("password", "resetPassword")) { $0.members }
    }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
