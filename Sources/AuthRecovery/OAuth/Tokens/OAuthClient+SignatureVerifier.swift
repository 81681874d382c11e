public import HTTPRecovery

extension OAuthClient {
    /// Tells whether a token was signed with one of its issuer's keys.
    ///
    /// `JSONWebKey.Verifier` of the module `AuthCryptography` does; whoever has another cryptography brings their own.
    public protocol SignatureVerifier: Sendable {
        /// Whether a token's signature is that of one of the keys.
        ///
        /// A token without a signature, with one by a secret, or by a key that is not among them, is not.
        ///
        /// - Parameters:
        ///   - token: The token, in compact form (RFC 7515 section 7.1).
        ///   - keys: The issuer's keys: a JSON Web Key Set (RFC 7517 section 5).
        func isSigned(_ token: Secret, withOneOf keys: JSONValue) -> Bool
    }
}
