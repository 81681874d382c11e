import HTTPRecovery

/// What has happened at PingAM.
public struct SandboxForgeRockCounters: Encodable, Sendable, Equatable {
    /// `journeys`: how many were begun, resumed ones not counted.
    public var journeys: Int64 = 0
    /// `steps`: how many steps were answered with their proof in order.
    public var steps: Int64 = 0
    /// `refused_proofs`: how many steps came with a proof that was used, forged or too old.
    public var refusedProofs: Int64 = 0
    /// `password_attempts`: how often a password was compared.
    public var passwordAttempts: Int64 = 0
    /// `code_attempts`: how often a one-time or recovery code was compared.
    public var codeAttempts: Int64 = 0
    /// `lockouts`: how often a failure has locked an account.
    public var lockouts: Int64 = 0
    /// `early_polls`: how many polls came before their time.
    public var earlyPolls: Int64 = 0
    /// `pushes`: how many were sent to a phone.
    public var pushes: Int64 = 0
    /// `ceremonies`: how many WebAuthn ceremonies have succeeded.
    public var ceremonies: Int64 = 0
    /// `sessions`: how many were made.
    public var sessions: Int64 = 0
    /// `transactions`: how many were confirmed.
    public var transactions: Int64 = 0
    /// `transactions_used`: how many were used for their resource.
    public var transactionsUsed: Int64 = 0

    /// Nothing has happened.
    public init() {}
}
