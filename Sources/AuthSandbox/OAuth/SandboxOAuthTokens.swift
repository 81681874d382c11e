import HTTPRecovery

/// The tokens of somebody whom ``AuthSandbox/AuthSandbox/issueTokens(for:client:scope:lifetime:)`` has signed in.
public struct SandboxOAuthTokens: Sendable, Equatable {
    /// The access token.
    public let accessToken: String
    /// The refresh token; nil if the settings or the client give none.
    public let refreshToken: String?
    /// What the access token is for, separated by spaces.
    public let scope: String
    /// Until when the access token is good, in milliseconds since 1970 on the sandbox's clock.
    public let expiresAt: Int64
    /// The sign-in that both belong to, as `GET /_sandbox/oauth` names it.
    public let family: String
}

extension SandboxOAuthTokens: Encodable {
    private enum CodingKeys: CodingKey {
        case accessToken, refreshToken, scope, expiresAt, family
    }

    /// Writes the tokens, with the time of the end as RFC 3339 has it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(accessToken, forKey: .accessToken)
        try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try container.encode(scope, forKey: .scope)
        try container.encode(Timestamp(milliseconds: expiresAt).rfc3339, forKey: .expiresAt)
        try container.encode(family, forKey: .family)
    }
}
