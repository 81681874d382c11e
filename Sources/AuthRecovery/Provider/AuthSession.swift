public import HTTPRecovery

/// A session at a provider.
public protocol AuthSession: Sendable {
    /// What can be told of it without opening it.
    var summary: SessionSummary { get }
}

/// What can be told of a session without opening it.
public struct SessionSummary: Sendable, Hashable {
    /// Whose it is, or what it is called; never a text that opens it.
    ///
    /// Nil if that is not known.
    public var name: String?
    /// The provider's word for its state.
    public var status: String
    /// When it ends, as far as that is known.
    public var expiresAt: Timestamp?

    /// Creates a summary.
    public init(name: String?, status: String = "active", expiresAt: Timestamp? = nil) {
        self.name = name
        self.status = status
        self.expiresAt = expiresAt
    }
}
