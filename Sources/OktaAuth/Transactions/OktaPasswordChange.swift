public import AuthRecovery
import HTTPRecovery

/// An old password and a new one.
public struct OktaPasswordChange: Sendable, Hashable {
    /// The password as it is.
    public var oldPassword: Secret
    /// The password as it shall be.
    public var newPassword: Secret
    /// Whether all other sessions of the person end with it; nil leaves it to the org.
    public var revokesSessions: Bool?

    /// Creates a change.
    public init(from oldPassword: Secret, to newPassword: Secret, revokesSessions: Bool? = nil) {
        self.oldPassword = oldPassword
        self.newPassword = newPassword
        self.revokesSessions = revokesSessions
    }

    var members: [JSONValue.Member] {
        [.init("oldPassword", .string(oldPassword.reveal()))]
            + OktaPasswordReset(newPassword, revokesSessions: revokesSessions).members
    }
}
