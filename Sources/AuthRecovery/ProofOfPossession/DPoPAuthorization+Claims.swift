public import HTTPRecovery

extension DPoPAuthorization {
    /// What one proof claims (RFC 9449 section 4.2).
    public struct Claims: Sendable, Hashable {
        /// A number used once, so that a server can refuse a proof that it has seen (`jti`).
        public var id: String
        /// The request's method (`htm`).
        public var method: String
        /// The request's URL without query and fragment (`htu`).
        public var url: String
        /// When the proof is made (`iat`).
        public var issuedAt: Timestamp
        /// The Base64url of the SHA-256 of the access token that goes with it (`ath`); nil if none does.
        public var accessTokenHash: String?
        /// The server's nonce (`nonce`); nil if none is known.
        public var nonce: String?

        /// Creates claims.
        public init(
            id: String,
            method: String,
            url: String,
            issuedAt: Timestamp,
            accessTokenHash: String? = nil,
            nonce: String? = nil
        ) {
            self.id = id
            self.method = method
            self.url = url
            self.issuedAt = issuedAt
            self.accessTokenHash = accessTokenHash
            self.nonce = nonce
        }

        /// The claims as the payload of a JWT.
        public var json: JSONValue {
            var members: [JSONValue.Member] = [
                JSONValue.Member("jti", .string(id)),
                JSONValue.Member("htm", .string(method)),
                JSONValue.Member("htu", .string(url)),
                JSONValue.Member("iat", .number(JSONValue.Number(issuedAt.secondsSinceEpoch))),
            ]
            if let accessTokenHash { members.append(JSONValue.Member("ath", .string(accessTokenHash))) }
            if let nonce { members.append(JSONValue.Member("nonce", .string(nonce))) }
            return .object(members)
        }
    }
}
