public import AuthRecovery
import HTTPRecovery

/// A name and a password.
public struct OktaCredentials: Sendable, Hashable {
    /// The name.
    public var username: String
    /// The password; nil for an org that has another factor stand in its place.
    public var password: Secret?
    /// The app that the sign-in is for, whose policy decides; nil takes that of the configuration.
    public var audience: String?
    /// What the app wants to get back in ``OktaTransaction/relayState``; nil takes that of the configuration.
    public var relayState: String?
    /// The id of the device, of at most 32 characters, by which the org remembers it; nil takes that of the
    /// configuration.
    ///
    /// An org takes it only from a trusted app, whose requests carry an API token.
    public var deviceToken: Secret?

    /// Creates credentials.
    public init(
        username: String,
        password: Secret? = nil,
        audience: String? = nil,
        relayState: String? = nil,
        deviceToken: Secret? = nil
    ) {
        self.username = username
        self.password = password
        self.audience = audience
        self.relayState = relayState
        self.deviceToken = deviceToken
    }

    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("username", .string(username))]
        if let password { members.append(.init("password", .string(password.reveal()))) }
        if let audience { members.append(.init("audience", .string(audience))) }
        if let relayState { members.append(.init("relayState", .string(relayState))) }
        if let deviceToken {
            members.append(.init("context", ["deviceToken": .string(deviceToken.reveal())]))
        }
        return members
    }
}
