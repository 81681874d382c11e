import AuthRecovery
import HTTPRecovery

/// What all states of a transaction have in common.
public protocol OktaTransactionState: Sendable {
    /// The transaction as the server told it.
    var transaction: OktaTransaction { get }
}

/// A state together with what its steps are taken with.
struct OktaStage: Sendable {
    let transaction: OktaTransaction
    let api: OktaAPI

    var links: OktaLinks { transaction.links }

    /// A step without input.
    func plain(_ link: OktaLink?, resend: RequestOptions.ResendPermission = .spending) -> OktaStep<Void>? {
        link.map { OktaStep(link: $0, api: api, stateToken: transaction.stateToken, resend: resend) { _ in [] } }
    }

    /// A step that asks how a factor stands; asking twice is asking once.
    func poll(_ link: OktaLink?) -> OktaStep<Void>? {
        plain(link)
    }

    /// A step that tries a password or a code.
    func attempt<Input>(
        _ link: OktaLink?,
        _ members: @escaping @Sendable (Input) -> [JSONValue.Member]
    ) -> OktaStep<Input>? {
        link.map {
            OktaStep(link: $0, api: api, stateToken: transaction.stateToken, isAttempt: true, members: members)
        }
    }

    /// A step that verifies or activates a factor.
    ///
    /// - Parameter isAttempt: Whether a lockout holds it back; not if it is what lifts the lockout.
    func answer(_ link: OktaLink?, isAttempt: Bool = true) -> OktaStep<OktaFactorAnswer>? {
        link.map { link in
            var step = OktaStep<OktaFactorAnswer>(
                link: link,
                api: api,
                stateToken: transaction.stateToken,
                isAttempt: isAttempt,
                members: { $0.members }
            )
            step.query = { $0.query }
            return step
        }
    }

    /// A step that hands over what the page of another party has answered: a form with the factor's id.
    func completion(of factor: OktaFactor?, _ details: JSONValue?) -> OktaStep<OktaFactorAnswer>? {
        answer(details.flatMap { OktaLinks($0["_links"])["complete"].first }).map { step in
            var step = OktaStep<OktaFactorAnswer>(
                link: step.link,
                api: api,
                stateToken: transaction.stateToken,
                isAttempt: true
            ) { input in
                (factor?.id.map { [JSONValue.Member("id", .string($0))] } ?? []) + input.members
            }
            step.isForm = true
            return step
        }
    }

    /// The step back to the choice of factors.
    var previous: OktaStep<Void>? { plain(links["prev"].first) }

    /// The step past what is optional.
    var skip: OktaStep<Void>? { plain(links["skip"].first) }

    /// The end of the transaction; without a state token there is nothing to end.
    var cancel: OktaQuietStep? {
        guard transaction.stateToken != nil, let link = links["cancel"].first else { return nil }
        // Ending it twice ends it once.
        return plain(link, resend: .replayable).map(OktaQuietStep.init)
    }

    /// Having a code sent again: the link of the factor's sort, else the first one.
    var resend: OktaQuietStep? {
        let links = links["resend"]
        let type = transaction.factor?.type ?? transaction.factorType
        let link = links.first { $0.name?.lowercased() == type?.rawValue } ?? links.first
        return sending(link)
    }

    func sending(_ link: OktaLink?) -> OktaQuietStep? {
        plain(link).map { step in
            var step = step
            step.purpose = .sending
            return OktaQuietStep(step: step)
        }
    }
}
