public import AuthRecovery
import HTTPRecovery

/// A name and a password.
public struct OktaCredentials: Sendable, Hashable {
    /// The name.
    public var username: String
    /// The password.
    public var password: Secret

    /// Creates credentials.
    public init(username: String, password: Secret) {
        self.username = username
        self.password = password
    }

    var members: [JSONValue.Member] {
        [.init("username", .string(username)), .init("password", .string(password.reveal()))]
    }
}
