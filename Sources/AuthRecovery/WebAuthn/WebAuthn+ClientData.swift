import HTTPRecovery

extension WebAuthn {
    /// What the client tells the relying party about a ceremony, and the authenticator signs (Web Authentication section
    /// 5.8.1).
    public struct ClientData: Sendable, Hashable {
        /// Which ceremony it is.
        public enum Ceremony: String, Sendable, Hashable {
            /// A credential is made.
            case create = "webauthn.create"
            /// A credential is used.
            case get = "webauthn.get"
        }

        /// Which ceremony it is.
        public var ceremony: Ceremony
        /// The relying party's challenge, as bytes.
        public var challenge: [UInt8]
        /// The origin, such as `https://login.example.com`.
        public var origin: String

        /// Creates client data.
        public init(_ ceremony: Ceremony, challenge: [UInt8], origin: String) {
            self.ceremony = ceremony
            self.challenge = challenge
            self.origin = origin
        }

        /// The serialisation, with its members in the order of section 5.8.1.1.
        public var json: [UInt8] {
            let value: JSONValue = [
                "type": .string(ceremony.rawValue), "challenge": .string(Base64.encodeForURL(challenge)),
                "origin": .string(origin), "crossOrigin": false,
            ]
            return Array(value.description.utf8)
        }

        /// The SHA-256 of ``json``, which is what an authenticator gets.
        public var hash: [UInt8] {
            SHA256.hash(json)
        }
    }
}
