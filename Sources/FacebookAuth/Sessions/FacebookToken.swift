public import AuthRecovery
import HTTPRecovery

/// Which token a call presents; what a refusal of it means depends on its sort.
public enum FacebookToken: Sendable, Hashable {
    /// The person's token that the store holds; it is cleared if it is definitely refused.
    case stored
    /// A person's token that the caller holds.
    case user(Secret)
    /// A page's token that the caller holds; it dies with its person's password, app or role.
    case page(Secret)
    /// The token of a system user, which the caller holds.
    case system(Secret)
    /// The app's own token; a refusal of it is a wrong setting.
    case app
    /// The app's client token; a refusal of it is a wrong setting, and there is no recovery for it.
    case client
    /// None.
    case none

    /// The sort of credential that it is.
    var presents: Outcome.CredentialKind? {
        switch self {
        case .stored, .user, .page, .system: .access
        case .app, .client: .client
        case .none: nil
        }
    }

    /// The token itself, if it is not the stored one.
    func given(by app: FacebookApp) -> Secret? {
        switch self {
        case .user(let token), .page(let token), .system(let token): token
        case .app: app.token
        case .client: app.identification
        case .stored, .none: nil
        }
    }

    /// Whether the app's secret is to be proven with it.
    var wantsProof: Bool { presents == .access }
}
