public import HTTPRecovery

/// Clears a credential that was definitely refused, and replays the call once where a newer one is there.
///
/// Only the version that was presented is cleared: a late refusal of an old token never touches a newer one. Nothing
/// is cleared on outages, throttles or answers that cannot be read, since those refuse nothing.
public struct SessionRenewal: RecoveryPolicy {
    private let tokens: any TokenStore

    /// Creates the policy.
    ///
    /// - Parameter tokens: Where the credentials are kept that ``Authorization`` attaches.
    public init(_ tokens: any TokenStore) {
        self.tokens = tokens
    }

    /// Repairs refused credentials, where the refusal is one that a cleared or newer credential can answer.
    public func decide(_ situation: Situation) -> Decision {
        let outcome = situation.outcome
        guard situation.wasSent, outcome.kind == .credentialRejected,
            outcome.tokenAction == .clear || outcome.remedies.contains(.refreshCredential)
        else { return .pass }
        return .repair(Renewal(tokens: tokens))
    }

    private struct Renewal: Repair {
        let tokens: any TokenStore

        var name: String { "refresh_credential" }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> Bool {
            guard let presented = context.record.presented else { return false }
            let present = try await tokens.read()
            let version = present.credentials.version(of: presented.kind)
            if version != presented.version { return version != nil }
            guard outcome.tokenAction == .clear else { return false }
            if try await tokens.clear(presented.kind, ifVersion: presented.version) {
                context.emit(.clear(presented.kind))
            }
            return false
        }
    }
}
