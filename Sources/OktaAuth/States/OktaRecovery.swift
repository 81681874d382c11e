import AuthRecovery
import HTTPRecovery

/// The answer to the recovery question is wanted.
public struct OktaRecovery: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// The question.
    public var question: String? { transaction.recoveryQuestion }

    /// Answers the question.
    public var answer: OktaStep<OktaFactorAnswer>? {
        stage.answer(stage.links.next("answer"), isAttempt: false)
    }

    /// Goes on with the recovery token that a trusted app has got.
    public var redeem: OktaStep<Void>? {
        guard let token = transaction.recoveryToken, let link = stage.links.next("recovery") else { return nil }
        return OktaStep(link: link, api: stage.api, stateToken: transaction.stateToken) { _ in
            [JSONValue.Member("recoveryToken", .string(token.reveal()))]
        }
    }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
