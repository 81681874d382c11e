/// A recovery code is under way, or a mail that the person has to follow.
public struct OktaRecoveryChallenge: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// How the person was reached.
    public var factorType: OktaFactorType? { transaction.factorType }

    /// Whether nothing more can be done here, because the person follows a link in a mail.
    public var isByMail: Bool { verify == nil }

    /// Verifies the code.
    public var verify: OktaStep<OktaFactorAnswer>? {
        stage.answer(stage.links.next("verify"), isAttempt: false)
    }

    /// Has the code sent again.
    public var resend: OktaQuietStep? { stage.resend }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
