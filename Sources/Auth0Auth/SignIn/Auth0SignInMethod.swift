public import AuthRecovery

/// What a sign-in at a tenant begins with.
@nonexhaustive public enum Auth0SignInMethod: Sendable, Hashable {
    /// A name (e-mail address, phone number or user name), perhaps with a password; without one the person chooses among
    /// what the configuration has.
    case identifier(String, password: Secret? = nil)
    /// A code or a link to this address or number, whether the configuration offers it or not.
    case passwordless(Auth0Configuration.Passwordless, to: String)
    /// A passkey, whoever's it is.
    case passkey
    /// A passkey that is made now, and with it an account in the database; a sign-in to an account that there is already ends
    /// with the kind `conflict`.
    case newPasskey(Auth0NewAccount)
    /// A token of another issuer, for which the tenant has a profile (custom token exchange, RFC 8693); it is presented once.
    case token(OAuthClient.ExchangeToken)
    /// The tenant's own login page in a browser, which comes back to the configuration's redirect URI.
    case browser(loginHint: String? = nil)
    /// A code that the person enters in a browser on another device.
    case device
    /// The refresh token that is held, in place of a first factor: the tokens are renewed, and what the tenant wants for that
    /// is asked for.
    case renewal
}
