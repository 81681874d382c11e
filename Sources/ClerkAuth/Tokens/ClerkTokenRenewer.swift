public import AuthRecovery
public import HTTPRecovery

/// Renews an access token with the session tokens of a ``Clerk`` client, for requests to an app's own backend.
///
/// ```swift
/// let backendTokens = TokenManager(store: InMemoryTokenStore(), renewer: ClerkTokenRenewer(clerk))
/// let backend = RecoveringClient(transport: transport) {
///     Recovery {
///         RateLimitBackoff()
///         SessionRenewal(backendTokens)
///         TransientRetry()
///     }
///     Authorization(backendTokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
/// }
/// ```
public struct ClerkTokenRenewer: TokenRenewer {
    private let clerk: Clerk
    private let template: String?
    private let organizationID: String?

    /// Creates the renewer.
    ///
    /// - Parameters:
    ///   - clerk: Whose session it is.
    ///   - template: The template of the tokens; nil for the default one.
    ///   - organizationID: The organization that they speak for; empty for the personal account, nil for whichever is
    ///     active.
    public init(_ clerk: Clerk, template: String? = nil, organizationID: String? = nil) {
        self.clerk = clerk
        self.template = template
        self.organizationID = organizationID
    }

    /// No refresh token is used.
    public var reuse: RefreshTokenGrant.Reuse { .reusable }

    /// Always: the session is held elsewhere.
    public func canRenew(_ credentials: Credentials) -> Bool { true }

    /// Obtains a new session token.
    ///
    /// - Returns: The credentials with the token as their access token; everything else in them stays.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if the session has ended.
    ///   `CancellationError` as soon as the task is cancelled.
    public func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let token = try await clerk.within(operation).sessionToken(
            template: template,
            organizationID: organizationID,
            skippingCache: credentials.accessToken != nil
        )
        var renewed = credentials
        renewed.accessToken = token.jwt
        renewed.expiresAt = token.expiresAt
        renewed.tokenType = "Bearer"
        return renewed
    }
}
