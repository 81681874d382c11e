import AuthRecovery
import HTTPRecovery

/// How Okta Verify is set up: by a picture that its camera reads, or by a link that is sent to the device that has it.
extension OktaEngineMachine {
    /// The form that wants the address that a link is sent to.
    static let channelData = "enrollment-channel-data"
    private static let selection = "select-enrollment-channel"
    private static let path = "authenticator.channel"

    /// The channels that a field offers, and which of its options each is.
    func channels(of field: OktaForm.Field?) -> [(factor: Factor, index: Int)] {
        (field?.options ?? []).enumerated().compactMap { index, option in
            guard let word = option.value?.string?.nonEmpty?.bounded(to: 64) else { return nil }
            let factor = Factor(key: .push, providerName: word, destination: option.label, id: "channel/\(word)")
            return (factor, index)
        }
    }

    /// The channels that can stand in for the one that is under way.
    func otherChannels(_ answer: OktaEngineAnswer) -> [Factor] {
        let present = answer.current?.channel
        return channels(of: answer.form(Self.selection)?[Self.path]).map(\.factor)
            .filter { $0.providerName != present }
    }

    /// What the form wants that offers the channels: nothing where there is a single one.
    mutating func select(channel form: OktaForm) async throws -> SignInStep<OktaSession> {
        let channels = channels(of: form[Self.path])
        guard channels.count > 1 else { return try await post(form, channel: channels.first?.index) }
        return .choose(channels.map(\.factor))
    }

    /// Goes on with a channel that was chosen: of the authenticator that was chosen before it, or in place of another.
    mutating func choose(channel factor: Factor, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession> {
        if let pending {
            for form in answer.forms {
                guard let way = ways(form, answer).first(where: { $0.factor.id == pending }) else { continue }
                let field = form["authenticator"]?.options[way.option].field("channel")
                guard let found = channels(of: field).first(where: { $0.factor.isSame(as: factor) }) else { continue }
                self.pending = nil
                return try await post(way, form, channel: found.index)
            }
        }
        guard let form = answer.form(Self.selection),
            let found = channels(of: form[Self.path]).first(where: { $0.factor.isSame(as: factor) })
        else { throw missing(Self.selection) }
        return try await post(form, channel: found.index)
    }

    private mutating func post(_ form: OktaForm, channel: Int?) async throws -> SignInStep<OktaSession> {
        try await post(
            form,
            choosing: channel.map { [Self.path: $0] } ?? [:],
            resend: .spending,
            purpose: .engineSending
        )
    }
}

extension OktaAuthenticator {
    /// How it is being set up, by Okta's word.
    var channel: String? { context?["selectedChannel"]?.string?.nonEmpty?.bounded(to: 64) }

    /// Where the link was sent by which it is set up; nil if none was.
    var linkAddress: String? { (context?["email"] ?? context?["phoneNumber"])?.string?.nonEmpty?.bounded(to: 256) }
}
