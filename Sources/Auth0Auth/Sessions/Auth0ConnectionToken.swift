public import AuthRecovery
public import HTTPRecovery

/// A token of another provider's, such as Google's, that a tenant keeps for a person who has connected their account there.
///
/// It is that provider's affair: the tenant's own calls do not take it, and it is not stored.
public struct Auth0ConnectionToken: Sendable, Hashable {
    /// The connection, such as `google-oauth2`.
    public var connection: String
    /// The token.
    public var token: Secret
    /// What may be done with it, as far as the tenant tells.
    public var scopes: [String]
    /// When it ends; nil if that is not known.
    public var expiresAt: Timestamp?

    /// Creates a token.
    public init(connection: String, token: Secret, scopes: [String] = [], expiresAt: Timestamp? = nil) {
        self.connection = connection
        self.token = token
        self.scopes = scopes
        self.expiresAt = expiresAt
    }
}
