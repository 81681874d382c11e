#if Cryptography
public import AuthRecovery
internal import Crypto
import HTTPRecovery

/// Makes the `appsecret_proof` with the app's secret in memory.
///
/// ```swift
/// let app = FacebookApp(id: "1234", secret: secret, prover: HMACAppSecretProver(appSecret: secret))
/// ```
public struct HMACAppSecretProver: AppSecretProver {
    private let secret: Secret

    /// Creates a prover.
    ///
    /// - Parameter secret: The app's secret; its UTF-8 bytes are the key.
    public init(appSecret secret: Secret) {
        self.secret = secret
    }

    /// The proof for a token.
    public func proof(of token: Secret) -> Secret {
        let key = SymmetricKey(data: Array(secret.reveal().utf8))
        let code = HMAC<Crypto.SHA256>.authenticationCode(for: Array(token.reveal().utf8), using: key)
        return Secret(Hexadecimal.encode(code))
    }
}
#endif
