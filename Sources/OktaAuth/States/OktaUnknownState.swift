public import HTTPRecovery

/// A state that this version does not know; the whole of it is in the transaction's body.
public struct OktaUnknownState: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// Okta's word for it.
    public var status: OktaStatus { transaction.status }

    /// The step of a link that the server publishes; nil if it publishes no such one.
    ///
    /// - Parameters:
    ///   - relation: The link's relation, such as `next` or `skip`; ``OktaTransaction/links`` has them all.
    ///   - name: The link's name, for a relation of several; nil takes the first.
    /// - Returns: The step; its input are the members that it wants beside the state token.
    public func step(_ relation: String, named name: String? = nil) -> OktaStep<[JSONValue.Member]>? {
        let link = stage.links[relation].first { name == nil || $0.name == name }
        return link.map {
            OktaStep(link: $0, api: stage.api, stateToken: transaction.stateToken, members: { $0 })
        }
    }

    /// Ends the transaction, also if the server publishes no link for it; nil if there is nothing to end.
    public var cancel: OktaQuietStep? {
        if let cancel = stage.cancel { return cancel }
        guard transaction.stateToken != nil else { return nil }
        let link = OktaLink(href: "\(stage.api.org.url)/api/v1/authn/cancel")
        return stage.plain(link, resend: .replayable).map(OktaQuietStep.init)
    }
}
