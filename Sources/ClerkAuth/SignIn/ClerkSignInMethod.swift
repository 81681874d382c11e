public import AuthRecovery
import HTTPRecovery

/// What a sign-in at Clerk begins with, and where it is to lead.
@nonexhaustive public enum ClerkSignInMethod: Sendable, Hashable {
    /// A name (e-mail address, phone number or user name), perhaps with a password; without one the person chooses among
    /// what the server offers.
    case identifier(String, password: Secret? = nil)
    /// An e-mail address or phone number that need not have an account: who proves by a code that it is theirs is signed in,
    /// or signed up, and before that nobody learns which.
    case identifierOrNew(String)
    /// A name whose password is to be replaced, by way of a code; the other sessions of the person may end with it.
    case newPassword(identifier: String, endsOtherSessions: Bool = true)
    /// The ticket of an invitation, or of a sign-in token that a backend has made. It is presented once.
    case ticket(Secret)
    /// What the link of an e-mail has led to. It is presented once.
    case link(ClerkEmailLink, ledTo: Secret)
    /// Another identity provider, which the person visits in a browser.
    case redirect(ClerkRedirect)
    /// What another provider has given the program itself, by Clerk's name of the way: an ID token for
    /// `oauth_token_apple`, a credential for `google_one_tap`. It is presented once.
    case token(Secret, strategy: String)
    /// Any passkey that the authenticator finds.
    case passkey
    /// The key of this device, by Clerk's id of it.
    case trustedDevice(id: String)
    /// The proof of somebody who has proved themselves in a sign-up and has an account already.
    case transfer

    /// What a lockout holds for until the server tells whose account it is: a name; else what can be presented once.
    var account: String? {
        switch self {
        case .identifier(let name, _), .identifierOrNew(let name), .newPassword(let name, _):
            LockoutLedger.account(for: name)
        case .ticket(let ticket): "ticket \(Fingerprint.text(of: ticket.reveal()))"
        case .link(_, let address): Self.account(ofLink: EmailLinkCallback(address)?.approvalToken ?? address)
        case .token(let token, _): "token \(Fingerprint.text(of: token.reveal()))"
        case .redirect(let redirect): redirect.identifier.map { LockoutLedger.account(for: $0) }
        case .trustedDevice(let id): "device \(Fingerprint.text(of: id))"
        case .passkey, .transfer: nil
        }
    }

    /// What a lockout holds for while what an opened link has brought is all that tells who signs in.
    static func account(ofLink token: Secret) -> String { "link \(Fingerprint.text(of: token.reveal()))" }

    /// The visit to another provider, if that is what it begins with.
    var visit: ClerkRedirect? { if case .redirect(let redirect) = self { redirect } else { nil } }

    /// Whether the person proves themselves to another provider.
    var isElsewhere: Bool { visit != nil }

    /// What somebody is signed up with who has proved themselves and has no account; nil if they are not.
    var signUpRequest: ClerkSignUpRequest? {
        switch self {
        case .redirect(let redirect):
            redirect.signsUp ? ClerkSignUpRequest(legalAccepted: redirect.legalAccepted, transfersSignIn: true) : nil
        case .token, .identifier, .identifierOrNew: .transfer
        case .newPassword, .ticket, .link, .passkey, .trustedDevice, .transfer: nil
        }
    }

    /// Whose account it is, as far as is known beforehand.
    var identifier: String? {
        switch self {
        case .identifier(let name, _), .identifierOrNew(let name), .newPassword(let name, _): name
        case .redirect(let redirect): redirect.identifier
        case .ticket, .link, .passkey, .transfer, .token, .trustedDevice: nil
        }
    }
}
