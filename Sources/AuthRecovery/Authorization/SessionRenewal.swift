public import HTTPRecovery

/// Renews a credential that was definitely refused, once for everybody, and replays the call once with the new one.
///
/// Where nothing renews it, it is cleared. Only the credential that was presented is touched: a late refusal of an old
/// one never clears a newer one. Nothing is renewed or cleared on outages, throttles, missing permissions or answers
/// that cannot be read, since those refuse no credential.
public struct SessionRenewal: RecoveryPolicy {
    private let tokens: TokenManager

    /// Creates the policy.
    ///
    /// - Parameter tokens: Keeps the credentials that ``Authorization`` attaches; the same manager.
    public init(_ tokens: TokenManager) {
        self.tokens = tokens
    }

    /// Creates the policy for credentials that nothing renews: a refused one is cleared.
    ///
    /// - Parameter store: Where the credentials are kept that ``Authorization`` attaches.
    public init(_ store: any TokenStore) {
        self.init(TokenManager(store: store))
    }

    /// Repairs refused credentials, where the refusal is one that a cleared or newer credential can answer.
    public func decide(_ situation: Situation) -> Decision {
        let outcome = situation.outcome
        // A 403 is about what the credential may do, whatever word comes with it.
        guard situation.wasSent, outcome.kind == .credentialRejected, outcome.status != 403,
            outcome.tokenAction == .clear || outcome.remedies.contains(.refreshCredential)
        else { return .pass }
        return .repair(RefreshCredential(tokens: tokens))
    }

    /// The name of the repair in histories.
    static let repairName = "refresh_credential"

    private struct RefreshCredential: Repair {
        let tokens: TokenManager

        var name: String { SessionRenewal.repairName }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> RepairResult {
            guard let presented = context.record.presented else {
                // Nothing of ours was shown, so nothing of ours can be renewed.
                return .reauthenticationRequired(after: outcome)
            }
            return try await tokens.repair(presented, after: outcome, context: context)
        }
    }
}
