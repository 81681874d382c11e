public import AuthRecovery

/// Makes the `appsecret_proof` of an access token: the proof that whoever presents the token also has the app's secret.
///
/// It is asked anew for each attempt, since a token may change between two. `HMACAppSecretProver` (trait `Cryptography`)
/// has the secret in memory; another implementation may ask a service that keeps it.
public protocol AppSecretProver: Sendable {
    /// The proof for a token: the HMAC-SHA256 of the token with the app's secret as the key, in lower-case hexadecimal.
    ///
    /// - Throws: Whatever keeps the proof from being made; the call fails as `misconfigured` then, unsent.
    func proof(of token: Secret) throws -> Secret
}
