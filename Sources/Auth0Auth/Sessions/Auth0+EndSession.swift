public import AuthRecovery
import HTTPRecovery

extension Auth0 {
    /// The address that ends the session of the person's browser, for an app that has sent them to the tenant's login page:
    /// the browser opens it, and is sent back.
    ///
    /// ``signOut()`` ends what this client holds; in a browser the person stays signed in, and the next visit to the login
    /// page asks nothing. The address has to be asked for before signing out, which forgets the ID token that names the
    /// browser's session; it holds that token, so it is for that browser alone.
    ///
    /// Where no such session is known, or none any more, the address names the app alone (`/v2/logout`), unless something is
    /// to come back: only `/oidc/logout` brings it, and asks the person first if they want to sign out.
    ///
    /// - Parameters:
    ///   - redirectURI: Where the browser goes afterwards, as it is registered for the app; nil is the first that is.
    ///   - state: What comes back with it.
    ///   - isFederated: Whether the session at another provider is ended too, where the person has signed in by one.
    /// - Throws: What the store throws; `CancellationError` as soon as the task is cancelled.
    public func endSessionURL(
        redirectURI: String? = nil,
        state: Secret? = nil,
        isFederated: Bool = false
    ) async throws -> Secret {
        let held = try await tokens.store.read().credentials
        // One of another sign-in than a browser's names no session.
        let idToken = held.auth0Identity?.claims["sid"]?.string == nil ? nil : held.idToken
        let isStandard = idToken != nil || state != nil
        var query = FormFields()
        query.add("id_token_hint", secret: idToken)
        query.add("client_id", api.configuration.clientID)
        query.add(isStandard ? "post_logout_redirect_uri" : "returnTo", redirectURI)
        query.add("state", secret: state)
        let end = isFederated ? "&federated" : ""
        return Secret("\(api.base)\(isStandard ? "/oidc/logout" : "/v2/logout")?\(query.encoded)\(end)")
    }
}
