public import AuthRecovery
import HTTPRecovery

/// A new password.
public struct OktaPasswordReset: Sendable, Hashable {
    /// The password as it shall be.
    public var newPassword: Secret
    /// Whether all other sessions of the person end with it; nil leaves it to the org.
    public var revokesSessions: Bool?

    /// Creates a reset.
    public init(_ newPassword: Secret, revokesSessions: Bool? = nil) {
        self.newPassword = newPassword
        self.revokesSessions = revokesSessions
    }

    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("newPassword", .string(newPassword.reveal()))]
        if let revokesSessions { members.append(.init("revokeSessions", .bool(revokesSessions))) }
        return members
    }
}
