import HTTPRecovery

/// Whom to help, and how to reach them.
public struct OktaRecoveryRequest: Sendable, Hashable {
    /// The name.
    public var username: String
    /// How the person is reached: by e-mail, text message or call.
    public var factorType: OktaFactorType
    /// What the app wants to get back with the link in the mail.
    public var relayState: String?

    /// Creates a request.
    public init(username: String, via factorType: OktaFactorType, relayState: String? = nil) {
        self.username = username
        self.factorType = factorType
        self.relayState = relayState
    }

    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("username", .string(username)), .init("factorType", .string(factorType.rawValue.uppercased())),
        ]
        if let relayState { members.append(.init("relayState", .string(relayState))) }
        return members
    }
}
