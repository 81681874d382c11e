public import AuthRecovery
import HTTPRecovery

/// The factor that was enrolled has to be activated.
public struct OktaActivating: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// The factor.
    public var factor: OktaFactor? { transaction.factor }

    /// What the person needs to set the factor up: the key for an authenticator app, else the address of a picture of
    /// it.
    public var setup: Secret? {
        let key = factor?.activation?["sharedSecret"]?.string?.nonEmpty
        let picture = factor?.activation.flatMap { OktaLinks($0["_links"])["qrcode"].first?.href }
        return (key ?? picture).map { Secret($0) }
    }

    /// Activates the factor with a code or a WebAuthn credential.
    public var activate: OktaStep<OktaFactorAnswer>? {
        stage.answer(stage.links.next("activate"))
    }

    /// Hands over what the page of another party has answered, such as Duo's: the link that the activation names for it.
    ///
    /// Afterwards it is asked whether that is enough, by ``poll``.
    public var complete: OktaStep<OktaFactorAnswer>? {
        stage.completion(of: factor, factor?.activation)
    }

    /// Asks whether the person has set the push up.
    public var poll: OktaStep<Void>? { stage.poll(isPolling ? stage.links.next("poll") : nil) }

    /// Sends the activation of a push to the person, as the server offers it: by mail or text message.
    ///
    /// - Parameters:
    ///   - type: `email` or `sms`.
    ///   - phoneNumber: Where a text message goes to; nil leaves it to the number that the org knows.
    /// - Returns: Nil if the server does not offer it.
    public func send(via type: OktaFactorType, to phoneNumber: Secret? = nil) -> OktaQuietStep? {
        let links = factor?.activation.map { OktaLinks($0["_links"])["send"] } ?? []
        guard let link = links.first(where: { $0.name?.lowercased() == type.rawValue }) else { return nil }
        var step = OktaStep<Void>(link: link, api: stage.api, stateToken: transaction.stateToken) { _ in
            phoneNumber.map { [.init("profile", ["phoneNumber": .string($0.reveal())])] } ?? []
        }
        step.purpose = .sending
        return OktaQuietStep(step: step)
    }

    /// Has the code sent again.
    public var resend: OktaQuietStep? {
        guard let factor, let step = stage.resend else { return nil }
        var inner = OktaStep<Void>(link: step.link, api: stage.api, stateToken: transaction.stateToken) { _ in
            OktaFactorEnrollment(factor).members
        }
        inner.purpose = .sending
        return OktaQuietStep(step: inner)
    }

    /// Goes back to the choice of factors.
    public var previous: OktaStep<Void>? { stage.previous }

    /// Whether the server waits for the person.
    private var isPolling: Bool {
        let isOpen = transaction.factorResult.map { [.waiting, .pendingActivation].contains($0) } ?? true
        return isOpen && stage.links["next"].first?.name == "poll"
    }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
