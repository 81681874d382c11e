import HTTPRecovery
import HTTPRecoveryTesting

// How Okta Verify is set up at the identity engine: by a picture that is scanned, or by a link that is sent.
extension OktaWorld {
    private static let labels = ["qrcode": "QRCODE", "email": "EMAIL", "sms": "SMS"]

    /// The field that names the channel.
    func channelField(isRequired: Bool, _ exchange: OktaExchange) -> JSONValue {
        let options: [JSONValue] = exchange.okta.verifyChannels.map {
            ["label": .string(Self.labels[$0] ?? $0), "value": .string($0)]
        }
        return [
            "name": "channel", "type": "string", "required": .bool(isRequired), "options": .array(options),
        ]
    }

    /// The form that leads to another channel.
    func channels(_ flow: OktaFlow, _ exchange: OktaExchange) -> [JSONValue] {
        let id: JSONValue = [
            "name": "id", "required": true, "value": .string(Self.authenticatorID(type: "push")), "mutable": false,
            "visible": false,
        ]
        // Here the object's fields stand in its value.
        let inner: JSONValue = [
            "name": "authenticator", "type": "object", "label": "Okta Verify",
            "value": ["form": ["value": [id, channelField(isRequired: true, exchange)]]],
        ]
        return [form("select-enrollment-channel", "credential/enroll", [inner], flow, exchange)]
    }

    /// The form that wants an address for the link.
    func address(
        of channel: String,
        _ failure: OktaEngineFailure?,
        _ flow: OktaFlow,
        _ exchange: OktaExchange
    ) -> JSONValue {
        let isMail = channel == "email"
        let field = Self.field(isMail ? "email" : "phoneNumber", isMail ? "Email" : "Phone number", failure)
        return form("enrollment-channel-data", "challenge/send", [field], flow, exchange)
    }

    /// What a client shows while Okta Verify is set up.
    static func shown(_ challenge: OktaTransaction.Challenge) -> JSONValue {
        let destination = JSONValue.optional(challenge.factor.setup.destination)
        switch challenge.channel {
        case "email": return ["selectedChannel": "email", "email": destination]
        case "sms": return ["selectedChannel": "sms", "phoneNumber": destination]
        default:
            let picture: JSONValue = [
                "method": "embedded", "href": "data:image/png;base64,iVBORw0KGgo=", "type": "image/png",
            ]
            return ["qrcode": picture, "selectedChannel": "qrcode"]
        }
    }

    /// Begins to set up Okta Verify, or goes on by another channel; false for another authenticator.
    func choose(
        channel: String?,
        of id: String,
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange
    ) throws(OktaEngineFailure) -> Bool {
        guard id == Self.authenticatorID(type: "push"), let account = account(of: flow),
            account.enrollments.contains(where: { $0.type == "push" })
        else { return false }
        let isUnderWay = flow.transaction.challenge?.channel != nil && flow.step == .activate
        if case .channel = flow.step {} else if flow.step != .enroll, !isUnderWay { throw .expired }
        let known = exchange.okta.verifyChannels
        guard channel.map(known.contains) ?? true else {
            throw OktaEngineFailure(400, "api.error.field_value_invalid", "The channel is not known.", field: "channel")
        }
        flow.transaction.challenge = nil
        switch channel ?? (known.contains("qrcode") ? "qrcode" : nil) {
        case "qrcode"?: activate(by: "qrcode", to: nil, &flow, exchange)
        case let other: flow.step = .channel(other)
        }
        return true
    }

    /// Sends the link to the address that was told.
    mutating func sendLink(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        guard case .channel(let channel?) = flow.step else { throw .expired }
        let isMail = channel == "email"
        let address = exchange.text(isMail ? "email" : "phoneNumber") ?? ""
        let isGood = isMail ? address.contains("@") : address.hasPrefix("+") && address.count > 7
        guard isGood else {
            throw isMail
                ? OktaEngineFailure(400, "registration.error.invalidLoginEmail", "Invalid email.", field: "email")
                : OktaEngineFailure(
                    400,
                    "api.factors.error.sms.invalid_phone",
                    "Invalid Phone Number.",
                    field: "phoneNumber"
                )
        }
        activate(by: channel, to: address, &flow, exchange)
        if let challenge = flow.transaction.challenge {
            send(link: challenge, channel, flow, exchange, context: &context)
        }
    }

    /// Sends the link by which Okta Verify is set up.
    mutating func send(
        link challenge: OktaTransaction.Challenge,
        _ channel: String,
        _ flow: OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) {
        counters.codes += 1
        context.send(
            SandboxMessage(
                to: challenge.factor.setup.destination ?? "",
                channel: channel == "email" ? "email" : "phone",
                strategy: "okta_verify_\(channel)",
                code: "\(exchange.origin)/o/l/\(flow.id)",
                sentAt: exchange.now,
                signIn: Masking.fingerprint(flow.transaction.token)
            )
        )
    }

    private func activate(by channel: String, to address: String?, _ flow: inout OktaFlow, _ exchange: OktaExchange) {
        var setup = SandboxOktaUser.Factor.push("WAITING", "SUCCESS")
        setup.destination = address
        var challenge = OktaTransaction.Challenge(factor: OktaFactor(id: "opf\(flow.id.prefix(17))", setup: setup))
        (challenge.result, challenge.pushedAt, challenge.channel) = ("WAITING", exchange.now, channel)
        flow.transaction.challenge = challenge
        flow.step = .activate
        flow.failures = 0
    }
}
