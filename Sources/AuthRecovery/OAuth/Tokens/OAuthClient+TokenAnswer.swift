public import HTTPRecovery

extension OAuthClient {
    /// The answer of a token endpoint that issued tokens (RFC 6749 section 5.1).
    public struct TokenAnswer: Sendable, Hashable {
        /// The access token.
        public var accessToken: Secret
        /// How the access token is presented, such as `Bearer` or `DPoP`; nil if the server does not say.
        public var tokenType: String?
        /// When the access token expires; nil if that is not known.
        ///
        /// The stated lifetime counts from the answer's `Date` field, else from the local time at which it came. If none
        /// is stated, the `exp` claim of a JWT is taken as a hint.
        public var expiresAt: Timestamp?
        /// A new refresh token; nil if the old one, if any, stays.
        public var refreshToken: Secret?
        /// What was granted; nil if it is what was asked for.
        public var scope: String?
        /// The ID token (OpenID Connect), not verified.
        public var idToken: Secret?
        /// The sort of the issued token, after a token exchange (RFC 8693 section 2.2.1).
        public var issuedTokenType: OAuthClient.TokenType?
        /// Further members of the answer.
        public var others: [JSONValue.Member]

        /// Reads an answer.
        ///
        /// Members of a wrong type count as absent. A lifetime may be a number or a text; one that is not above zero, which
        /// some servers send for "no end", counts as none.
        ///
        /// - Parameters:
        ///   - members: The answer's JSON object.
        ///   - date: The server's time when it answered.
        /// - Returns: Nil if the object has no access token.
        public init?(_ members: JSONValue, date: Timestamp) {
            // RFC 6749 appendix A.12: visible ASCII; anything else could not be sent as it is.
            guard let accessToken = members["access_token"]?.string?.nonEmpty,
                accessToken.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
            else { return nil }
            self.accessToken = Secret(accessToken)
            self.tokenType = members["token_type"]?.string?.nonEmpty?.bounded(to: 64)
            self.refreshToken = members["refresh_token"]?.string?.nonEmpty.map { Secret($0) }
            self.scope = members["scope"]?.string?.bounded(to: 65_536)
            self.idToken = members["id_token"]?.string?.nonEmpty.map { Secret($0) }
            self.issuedTokenType = members["issued_token_type"]?.string?.nonEmpty.map {
                OAuthClient.TokenType(rawValue: $0.bounded(to: 256))
            }
            self.others = (members.members ?? []).filter { !Self.keys.contains($0.key) }
            let lifetime = members["expires_in"]?.lenientNumber?.seconds
            if let lifetime, lifetime > .zero {
                expiresAt = min(date.advanced(by: lifetime), Self.endOfTime)
            } else {
                expiresAt = Self.hint(in: self.accessToken, date: date)
            }
        }

        private static let keys: Set<String> = [
            "access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token", "issued_token_type",
        ]

        /// The last moment that can be written as RFC 3339.
        private static let endOfTime = Timestamp(secondsSinceEpoch: 253_402_300_799)

        /// The time that the access token itself claims, if it is believable for one that was issued just now: later
        /// than that, and by ten years at most.
        private static func hint(in token: Secret, date: Timestamp) -> Timestamp? {
            guard let claimed = UnverifiedJWT(token)?.expiresAt else { return nil }
            let lifetime = claimed.elapsed(since: date)
            return lifetime > .zero && lifetime <= .seconds(10 * 366 * 86_400) ? claimed : nil
        }
    }
}

extension OAuthClient.TokenAnswer {
    /// The credentials with what the answer renews.
    ///
    /// A refresh token that is not replaced stays. So do all other members; if the stored form has `id_token` or
    /// `scope`, the answer's take their place. The type of the token is kept too, except that `Bearer`, which is what no
    /// type means, is not written if none stood.
    public func merged(into credentials: Credentials) -> Credentials {
        var merged = credentials
        merged.remove(.access)
        merged.accessToken = accessToken
        merged.expiresAt = expiresAt
        let isPlain = credentials.tokenType == nil && tokenType?.lowercased() == "bearer"
        merged.tokenType = isPlain ? nil : tokenType ?? credentials.tokenType
        if let refreshToken {
            merged.remove(.refresh)
            merged.refreshToken = refreshToken
        }
        let renewed = ["id_token": idToken?.reveal(), "scope": scope]
        merged.others = merged.others.map { member in
            guard let value = renewed[member.key] ?? nil else { return member }
            return JSONValue.Member(member.key, .string(value))
        }
        return merged
    }
}

// Members that this version does not know may be secrets too.
extension OAuthClient.TokenAnswer: Redacted {
    /// What the answer holds, without any of it.
    public var description: String {
        let parts = [
            "access_token", refreshToken.map { _ in "refresh_token" }, idToken.map { _ in "id_token" },
            expiresAt.map { "expires_at=\($0.rfc3339)" },
        ]
        return "OAuthClient.TokenAnswer(\(parts.compactMap(\.self).joined(separator: ", ")))"
    }
}
