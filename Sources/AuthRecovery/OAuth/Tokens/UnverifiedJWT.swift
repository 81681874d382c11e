public import HTTPRecovery

/// The claims of a JWT (RFC 7519), read without checking the signature: hints, never proofs.
///
/// It helps to guess when an access token expires or whose it is. Nothing may be granted, and nothing refused, on its
/// word alone.
public struct UnverifiedJWT: Sendable, Hashable {
    /// The longest token that is read, in bytes.
    private static let maximumLength = 65_536

    /// The header's members.
    public let header: JSONValue
    /// The claims.
    public let claims: JSONValue

    /// Reads a token.
    ///
    /// - Returns: Nil if the text is no signed JWT in compact form, or is longer than 64 KiB.
    public init?(_ token: Secret) {
        let text = token.reveal()
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]) else {
            return nil
        }
        self.header = header
        self.claims = claims
    }

    /// When the token expires, as it claims.
    public var expiresAt: Timestamp? { time("exp") }

    /// When the token was issued, as it claims.
    public var issuedAt: Timestamp? { time("iat") }

    /// Who issued the token, as it claims.
    public var issuer: String? { claims["iss"]?.string }

    /// Whom the token speaks for, as it claims.
    public var subject: String? { claims["sub"]?.string }

    func time(_ name: String) -> Timestamp? {
        claims[name]?.lenientNumber.map { Timestamp(sinceEpoch: $0.seconds) }
    }

    private static func object(_ part: Substring) -> JSONValue? {
        guard let bytes = Base64.decode(part.utf8), let value = try? JSONValue(parsing: bytes, maximumDepth: 16),
            case .object = value
        else { return nil }
        return value
    }
}

extension UnverifiedJWT: Redacted {
    /// A placeholder: claims name people.
    public var description: String { "UnverifiedJWT" }
}
