import HTTPRecovery

/// What has happened with refresh tokens: of the whole provider, of a client, or of one sign-in.
public struct SandboxOAuthCounters: Encodable, Sendable, Equatable {
    /// `sign_ins`: how many families of tokens were begun.
    public var signIns: Int64 = 0
    /// `refreshes`: how often a current refresh token was used with success.
    public var refreshes: Int64 = 0
    /// `grace_reuses`: how often a replaced one was used inside the grace.
    public var graceReuses: Int64 = 0
    /// `violations`: how often a replaced one was used after the grace.
    public var violations: Int64 = 0
    /// `families_revoked`: how many families were revoked, whatever for.
    public var familiesRevoked: Int64 = 0

    /// Nothing has happened.
    public init() {}
}
