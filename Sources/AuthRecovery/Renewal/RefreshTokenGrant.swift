public import HTTPRecovery

/// Renews credentials with their refresh token (RFC 6749 section 6).
public struct RefreshTokenGrant: TokenRenewer {
    private let client: OAuthClient
    private let scope: String?

    /// What may be done with a refresh token after the answer to its use was lost.
    public let reuse: RefreshTokenGrant.Reuse

    /// Creates the renewer.
    ///
    /// - Parameters:
    ///   - client: The client that the refresh token was issued to.
    ///   - reuse: What the server does with refresh tokens. Default: nothing is known.
    ///   - scope: Less than was granted; nil for the same.
    public init(client: OAuthClient, reuse: RefreshTokenGrant.Reuse = .undeclared, scope: String? = nil) {
        self.client = client
        self.reuse = reuse
        self.scope = scope
    }

    /// Whether the credentials hold a refresh token.
    public func canRenew(_ credentials: Credentials) -> Bool {
        credentials.refreshToken.map { !$0.isEmpty } ?? false
    }

    /// Presents the refresh token once.
    ///
    /// - Returns: The credentials with the new tokens; a refresh token that is not replaced stays.
    /// - Throws: `RecoveryError`; if its `tokenAction` is `clear`, the refresh token is dead. Of the kind
    ///   `reauthentication_required` if there is no refresh token. `CancellationError` as soon as the task is
    ///   cancelled.
    public func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        guard let token = credentials.refreshToken, !token.isEmpty else {
            let outcome = Outcome(.reauthenticationRequired, processed: .no, remedies: [.reauthenticate])
            throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
        return try await client.within(operation).tokens(.refreshToken(token, scope: scope)).merged(into: credentials)
    }
}
