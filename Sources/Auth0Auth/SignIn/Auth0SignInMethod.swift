public import AuthRecovery

/// What a sign-in at a tenant begins with.
@nonexhaustive public enum Auth0SignInMethod: Sendable, Hashable {
    /// A name (e-mail address, phone number or user name), perhaps with a password; without one the person chooses among
    /// what the configuration has.
    case identifier(String, password: Secret? = nil)
    /// A code or a link to this address or number, whether the configuration offers it or not.
    case passwordless(Auth0Configuration.Passwordless, to: String)
    /// The tenant's own login page in a browser, which comes back to the configuration's redirect URI.
    case browser(loginHint: String? = nil)
    /// A code that the person enters in a browser on another device.
    case device
    /// The refresh token that is held, in place of a first factor: the tokens are renewed, and what the tenant wants for that
    /// is asked for.
    case renewal
}
