public import HTTPRecovery

/// Obtains new credentials for ones that expire or were refused.
///
/// A renewer performs one renewal and nothing else: that only one is under way at a time, that its result is stored
/// before anyone uses it, and what its failure means for the credentials, is the business of ``TokenManager``.
public protocol TokenRenewer: Sendable {
    /// What may be done with a refresh token after the answer to its use was lost.
    var reuse: RefreshTokenGrant.Reuse { get }

    /// Whether the credentials hold what a renewal needs.
    func canRenew(_ credentials: Credentials) -> Bool

    /// Performs one renewal.
    ///
    /// - Parameters:
    ///   - credentials: The credentials as they are stored.
    ///   - operation: What the renewal belongs to: its calls are made by a client that is
    ///     `RecoveringClient.within(_:)` it, so that they keep to its bounds and appear under its number.
    /// - Returns: The credentials as they are to be stored: if the answer brought no new refresh token, with the old.
    /// - Throws: `RecoveryError`; one of kind `Outcome.Kind.credentialRejected` whose `Outcome.tokenAction` is `.clear` says
    ///   that the server has definitely refused the credential that the renewal presented (`Outcome.credential`, else the
    ///   refresh token): it is cleared, and the call needs a new sign-in. After any other error all stays as it is.
    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials
}
