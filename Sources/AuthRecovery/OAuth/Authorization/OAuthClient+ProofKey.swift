public import HTTPRecovery

extension OAuthClient {
    /// A proof key for code exchange, by the method S256 (RFC 7636).
    ///
    /// The challenge goes out with the authorization request, the verifier with the code: whoever steals the code alone
    /// cannot use it.
    public struct ProofKey: Sendable, Hashable {
        /// The method of the challenge.
        public static let method = "S256"

        /// The verifier: 43 to 128 characters that only this client knows.
        public let verifier: Secret

        /// Creates a new key of 256 random bits.
        public init(random: Runtime.RandomSource = Runtime.RandomSource()) {
            verifier = random.token()
        }

        /// Takes a verifier up again that was stored between the request and the redirect.
        ///
        /// - Returns: Nil if the text is no verifier by RFC 7636 section 4.1.
        public init?(verifier: Secret) {
            let text = verifier.reveal()
            let isUnreserved = text.utf8.allSatisfy { $0.isAlphanumeric || "-._~".utf8.contains($0) }
            guard (43...128).contains(text.utf8.count), isUnreserved else { return nil }
            self.verifier = verifier
        }

        /// The challenge: the SHA-256 of the verifier.
        public var challenge: String {
            Base64.encodeForURL(SHA256.hash(verifier.reveal().utf8))
        }
    }
}

extension Runtime.RandomSource {
    /// 256 random bits as text for URLs.
    func token() -> Secret {
        Secret(Base64.encodeForURL(bytes(32)))
    }
}
