extension DPoPAuthorization {
    /// Proves with each request that the client holds the key its tokens are bound to (RFC 9449, DPoP).
    ///
    /// The proof is a signed JWT that is good for one request. `DPoPProver` of the module `AuthCryptography` signs with a key
    /// in memory; a key service or a hardware module may stand behind it just as well.
    public protocol Prover: Sendable {
        /// The SHA-256 thumbprint of the public key (RFC 7638), by which a server names it (`jkt`).
        var thumbprint: String { get }

        /// Signs one proof.
        ///
        /// - Parameter claims: What is claimed.
        /// - Returns: The proof as a JWT in compact form, of the type `dpop+jwt`, with the public key in its header.
        /// - Throws: Whatever keeps it from being signed; then nothing is sent, and the call fails as `misconfigured` with
        ///   the error as its cause.
        func proof(_ claims: DPoPAuthorization.Claims) async throws -> Secret
    }
}
