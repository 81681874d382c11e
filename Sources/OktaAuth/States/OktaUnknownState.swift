import HTTPRecovery

/// A state that this version does not know; the whole of it is in the transaction's body.
public struct OktaUnknownState: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// Okta's word for it.
    public var status: OktaStatus { transaction.status }

    /// Ends the transaction, also if the server publishes no link for it; nil if there is nothing to end.
    public var cancel: OktaQuietStep? {
        if let cancel = stage.cancel { return cancel }
        guard transaction.stateToken != nil else { return nil }
        let link = OktaLink(href: "\(stage.api.org.url)/api/v1/authn/cancel")
        return stage.plain(link, resend: .replayable).map(OktaQuietStep.init)
    }
}
