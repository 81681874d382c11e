import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Sends the last token of the session along, once, if the server wants it to mint the next one from
/// (`missing_expired_token`).
struct SeedReplay: RecoveryPolicy {
    let api: ClerkAPI
    let sessionID: String

    func decide(_ failure: FailureContext) -> FailureContext.Decision {
        guard failure.wasSent, failure.outcome.remedies.contains(.seedToken) else { return .pass }
        return .repair(AddSeed(api: api, sessionID: sessionID))
    }

    private struct AddSeed: FailureContext.Remediation {
        let api: ClerkAPI
        let sessionID: String

        var name: String { "seed_token" }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            var seed = api.sessionTokens.seed(of: sessionID)
            if seed == nil {
                // A process that has just begun holds none: the client comes with the last one of each session.
                seed = try await api.readClient()?.liveSession(sessionID)?.lastActiveToken
            }
            guard let seed else { return .failed(outcome, reason: .notRecoverable) }
            return .amended { request in
                request.path = request.path?.addingQuery("expired_token=\(FormFields.encode(seed.reveal()))")
            }
        }
    }
}
