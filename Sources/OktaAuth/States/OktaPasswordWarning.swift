/// The password expires soon.
public struct OktaPasswordWarning: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// Changes the password.
    public var changePassword: OktaStep<OktaPasswordChange>? {
        stage.attempt(stage.links.next("changePassword")) { $0.members }
    }

    /// Goes on with the password as it is.
    public var skip: OktaStep<Void>? { stage.skip }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
