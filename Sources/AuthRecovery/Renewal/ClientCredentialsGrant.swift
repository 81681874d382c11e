public import HTTPRecovery

/// Renews credentials with the client's own (RFC 6749 section 4.4): a service that acts for itself.
public struct ClientCredentialsGrant: TokenRenewer {
    private let client: OAuthClient
    private let scope: String?
    private let parameters: FormFields

    /// No refresh token is used.
    public var reuse: RefreshTokenGrant.Reuse { .reusable }

    /// Creates the renewer.
    ///
    /// - Parameters:
    ///   - client: The client whose credentials are presented.
    ///   - scope: What is asked for; nil for the server's default.
    ///   - parameters: Further parameters of the request, such as `audience`.
    public init(client: OAuthClient, scope: String? = nil, parameters: FormFields = FormFields()) {
        self.client = client
        self.scope = scope
        self.parameters = parameters
    }

    /// Always: nothing of what is stored is needed.
    public func canRenew(_ credentials: Credentials) -> Bool { true }

    /// Obtains a new access token.
    ///
    /// - Returns: The credentials with the new token; everything else in them stays.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let grant = OAuthClient.Grant.clientCredentials(scope: scope, parameters: parameters)
        return try await client.within(operation).tokens(grant).merged(into: credentials)
    }
}
