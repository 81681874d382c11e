/// Obtains new credentials for ones that expire or were refused.
public protocol TokenRenewer: Sendable {
    /// What may be done with a refresh token after the answer to its use was lost.
    var reuse: RefreshTokenReuse { get }

    /// Whether the credentials hold what a renewal needs.
    func canRenew(_ credentials: Credentials) -> Bool

    /// Performs one renewal.
    ///
    /// - Returns: The credentials as they are to be stored.
    /// - Throws: `RecoveryError`.
    func renew(_ credentials: Credentials) async throws -> Credentials
}

/// What may be done with a refresh token after the answer to its use was lost.
public enum RefreshTokenReuse: Sendable, Hashable {
    /// Nothing is known: later renewals may present it again, the same one does not.
    case undeclared
    /// The server does not rotate refresh tokens.
    case reusable
    /// A used one is accepted again for so long after its first use.
    case rotating(grace: Duration)
}
