import AuthRecovery

/// What a sign-in begins with, and where it is to lead.
enum ClerkSignInGoal: Sendable {
    /// A name, perhaps with a password.
    case identifier(String, Secret?)
    /// A name whose password is to be replaced.
    case newPassword(String, endsOtherSessions: Bool)
    /// A ticket: of an invitation, of a sign-in token, of a link.
    case ticket(Secret)
    /// What the link of an e-mail has led to.
    case link(ClerkEmailLink, EmailLinkCallback)
    /// Any passkey that the authenticator finds.
    case passkey
    /// Somebody who has proved themselves in a sign-up and has an account already.
    case transfer

    /// Whose account it is, as far as is known beforehand.
    var identifier: String? {
        switch self {
        case .identifier(let name, _), .newPassword(let name, _): name
        case .ticket, .link, .passkey, .transfer: nil
        }
    }
}
