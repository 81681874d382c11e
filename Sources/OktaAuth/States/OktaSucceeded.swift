public import AuthRecovery

/// Done.
public struct OktaSucceeded: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// The one-time token that a session is made from; nil after an unlock.
    public var sessionToken: Secret? { transaction.sessionToken }

    /// Where the person is to be sent on, after a step-up.
    public var redirect: String? {
        stage.links.next("redirect")?.href ?? stage.links["original"].first?.href
    }
}
