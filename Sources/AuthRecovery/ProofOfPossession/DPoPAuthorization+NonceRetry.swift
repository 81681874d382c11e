public import HTTPRecovery

extension DPoPAuthorization {
    /// Repeats a call once whose proof lacked the server's newest nonce (RFC 9449 sections 8 and 9).
    ///
    /// The refusal brings the nonce, and the server has not acted on the request, so it is repeated whatever its method is,
    /// as long as its body can be read again. The repeat is free: there is one a call. If the answer brought no nonce
    /// that the proof had not, nothing is repeated. ``DPoPAuthorization`` keeps the nonces and belongs inside.
    public struct NonceRetry: RecoveryPolicy {
        /// Creates the policy.
        public init() {}

        /// Repeats if a newer nonce is there.
        public func decide(_ failure: FailureContext) -> FailureContext.Decision {
            let outcome = failure.outcome
            guard failure.wasSent, outcome.kind == .nonceRequired, outcome.remedies.contains(.newNonce) else {
                return .pass
            }
            return .repair(NewNonce())
        }

        /// The nonce came with the refusal: the next attempt's proof carries it.
        private struct NewNonce: FailureContext.Remediation {
            var name: String { "new_nonce" }

            func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
                .repaired
            }
        }
    }
}
