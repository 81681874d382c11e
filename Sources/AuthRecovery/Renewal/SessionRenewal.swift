public import HTTPRecovery

/// Renews a credential that was definitely refused, once for everybody, and replays the call once with the new one.
///
/// If nothing renews it, it is cleared. Only the credential that was presented is touched: a late refusal of an old
/// one never clears a newer one. Nothing is renewed or cleared on outages, throttles, missing permissions or answers
/// that cannot be read, since those refuse no credential.
///
/// All that replays a refused credential, the providers' own calls too, is this policy with its one repair; a provider
/// says which refusals it answers, and what else has to be settled about them.
public struct SessionRenewal: RecoveryPolicy {
    private let isAnswered: @Sendable (Outcome) -> Bool
    private let repair: SettleRefusal

    /// Creates the policy.
    ///
    /// - Parameters:
    ///   - tokens: Keeps the credentials that ``Authorization`` attaches; the same manager.
    ///   - isAnswered: Which refusals a cleared or newer credential can answer; asked about outcomes of the kind
    ///     `credential_rejected` alone. Default: ``canBeAnswered(_:)``.
    public init(
        _ tokens: TokenManager,
        where isAnswered: @escaping @Sendable (Outcome) -> Bool = Self.canBeAnswered
    ) {
        self.init(where: isAnswered) { outcome, context in
            guard let presented = context.record.presented else {
                // Nothing of ours was shown, so nothing of ours can be renewed.
                return .reauthenticationRequired(after: outcome)
            }
            return try await tokens.repair(presented, after: outcome, context: context)
        }
    }

    /// Creates the policy for credentials that nothing renews: a refused one is cleared.
    ///
    /// - Parameter store: Where the credentials are kept that ``Authorization`` attaches.
    public init(_ store: any TokenStore) {
        self.init(TokenManager(store: store))
    }

    /// Creates the policy for a credential of which a provider knows more than its manager.
    ///
    /// - Parameters:
    ///   - name: The name of the repair in histories; a call performs one of a name.
    ///   - isAnswered: Which refusals it answers.
    ///   - needsReplay: Whether it is of use only if the request may be sent again.
    ///   - settle: Finds out what became of the credential, clears it if it is still the one that was refused, and says
    ///     whether a replay makes sense. What it throws as a `RecoveryError` is what the call comes to.
    package init(
        named name: String = Self.repairName,
        where isAnswered: @escaping @Sendable (Outcome) -> Bool,
        needsReplay: Bool = true,
        settling settle: @escaping @Sendable (Outcome, CallContext) async throws -> FailureContext.RemediationResult
    ) {
        self.isAnswered = isAnswered
        repair = SettleRefusal(name: name, needsReplay: needsReplay, settle: settle)
    }

    /// Whether a refusal that says no more than HTTP does is one that a cleared or newer credential can answer.
    ///
    /// It is definite, or names a renewal as its remedy. A 403 is about what the credential may do, whatever word comes
    /// with it; a provider whose own codes say otherwise has a rule of its own.
    public static func canBeAnswered(_ outcome: Outcome) -> Bool {
        outcome.status != 403 && (outcome.tokenAction == .clear || outcome.remedies.contains(.refreshCredential))
    }

    /// Repairs refused credentials, if the refusal is one that a cleared or newer credential can answer.
    public func decide(_ failure: FailureContext) -> FailureContext.Decision {
        let outcome = failure.outcome
        guard failure.wasSent, outcome.kind == .credentialRejected, isAnswered(outcome) else { return .pass }
        return .repair(repair)
    }

    /// The name of the repair in histories.
    package static let repairName = "refresh_credential"

    private struct SettleRefusal: FailureContext.Remediation {
        let name: String
        let needsReplay: Bool
        let settle: @Sendable (Outcome, CallContext) async throws -> FailureContext.RemediationResult

        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            do {
                return try await settle(outcome, context)
            } catch let error as RecoveryError {
                var outcome = error.outcome
                outcome.retryAfter = error.retryAfter ?? outcome.retryAfter
                return .failed(outcome, reason: error.reason, cause: error.cause)
            }
        }
    }
}
