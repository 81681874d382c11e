/// One of the person's factors is wanted.
public struct OktaFactorRequired: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// The factors.
    public var factors: [OktaFactor] { transaction.factors }

    /// Verifies a factor, or begins to: sends its code or its push; nil if the server does not offer it.
    public func verify(_ factor: OktaFactor) -> OktaStep<OktaFactorAnswer>? {
        stage.answer(factor.links["verify"].first)
    }

    /// Begins the verification of a factor whose code has to be sent.
    func send(_ factor: OktaFactor) -> OktaStep<OktaFactorAnswer>? {
        verify(factor).map { step in
            var step = step
            step.purpose = .sending
            return step
        }
    }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
