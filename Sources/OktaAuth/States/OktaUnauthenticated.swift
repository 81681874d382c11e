/// Name and password are wanted.
public struct OktaUnauthenticated: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// Signs in with name and password.
    public var authenticate: OktaStep<OktaCredentials>? {
        stage.attempt(stage.links.next("authenticate")) { $0.members }
    }

    /// The factors that can be used without a password, if the org allows that.
    public var factors: [OktaFactor] { transaction.factors }

    /// Verifies a factor in the place of the password, or begins to; nil if the server does not offer it.
    public func verify(_ factor: OktaFactor) -> OktaStep<OktaFactorAnswer>? {
        stage.answer(factor.links["verify"].first)
    }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
