/// A factor is being verified.
public struct OktaFactorChallenge: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// The factor.
    public var factor: OktaFactor? { transaction.factor }

    /// What has become of it so far.
    public var result: OktaFactorResult? { transaction.factorResult }

    /// Verifies the factor with a code, an answer or an assertion; of a push, sends a new one.
    public var verify: OktaStep<OktaFactorAnswer>? {
        stage.answer(stage.links.next("verify"))
    }

    /// Hands over what the page of another party has answered, such as Duo's: the link that the challenge names for it.
    ///
    /// Afterwards it is asked whether that is enough, by ``poll``.
    public var complete: OktaStep<OktaFactorAnswer>? {
        stage.completion(of: factor, factor?.challenge)
    }

    /// Asks whether the person has answered; only while they have not.
    public var poll: OktaStep<Void>? {
        let mayPoll = result == .waiting && stage.links["next"].first?.name == "poll"
        return stage.poll(mayPoll ? stage.links["next"].first : nil)
    }

    /// Has the code or the push sent again.
    public var resend: OktaQuietStep? { stage.resend }

    /// Goes back to the choice of factors.
    public var previous: OktaStep<Void>? { stage.previous }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
