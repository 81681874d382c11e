import HTTPRecovery

/// What a session is pending for, until it has been done.
public struct ClerkTask: Sendable, Hashable, RawRepresentable {
    /// Clerk's key.
    public let rawValue: String

    /// Creates a task from Clerk's key.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A new password, as behind one that was compromised.
    public static let resetPassword = ClerkTask(rawValue: "reset-password")
    /// An organization to be active in.
    public static let chooseOrganization = ClerkTask(rawValue: "choose-organization")
    /// A second factor.
    public static let setupMFA = ClerkTask(rawValue: "setup-mfa")

    /// What a session with this task wants next.
    var remedies: [Outcome.Remedy] {
        switch self {
        case .resetPassword: [.changePassword]
        case .chooseOrganization, .setupMFA: [.askUser]
        default: [.visitProvider]
        }
    }

    /// The error of a session whose task cannot be done here; of one without a task that is pending all the same, for nil.
    static func isLeft(_ task: ClerkTask?) -> RecoveryError {
        var outcome = Outcome(.userActionRequired, processed: .yes, remedies: [.visitProvider])
        outcome.statusType = ClerkSessionStatus.pending.rawValue
        outcome.code = task?.rawValue
        outcome.openTask = task?.rawValue
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}
