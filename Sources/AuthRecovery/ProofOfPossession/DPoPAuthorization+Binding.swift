package import HTTPRecovery

extension DPoPAuthorization {
    /// A key that the tokens of an app are bound to, with what its servers want of the proofs (RFC 9449).
    ///
    /// The token endpoint and the APIs share what is known of nonces and clocks; so do all copies of the binding.
    public struct Binding: Sendable {
        private let prover: any DPoPAuthorization.Prover
        private let nonces = DPoPAuthorization.Nonces()
        private let clocks = ServerClocks()

        /// Creates a binding.
        ///
        /// - Parameter prover: Signs the proofs, such as `DPoPProver` of `AuthCryptography`.
        public init(_ prover: any DPoPAuthorization.Prover) {
            self.prover = prover
        }

        /// Attaches a proof to each request, and the token that is bound to the key, if there are tokens.
        package func layer(for tokens: TokenManager? = nil, at origin: Origin) -> DPoPAuthorization {
            guard let tokens else {
                return DPoPAuthorization(prover: prover, nonces: nonces, clocks: clocks, audience: [origin])
            }
            return DPoPAuthorization(tokens, prover: prover, nonces: nonces, clocks: clocks, audience: [origin])
        }
    }
}
