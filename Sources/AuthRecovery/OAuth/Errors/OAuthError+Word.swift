extension OAuthError {
    /// A word that names an error; servers may send others than the ones listed here.
    public struct Word: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The word as it stands in an answer.
        public let rawValue: String

        /// Creates a word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a word.
        public init(stringLiteral value: String) { self.rawValue = value }

        /// The word.
        public var description: String { rawValue }

        /// Reads a word as servers send it: known ones are recognised in any case, and with dashes, spaces or nothing
        /// between their parts.
        init(reading text: String) {
            let text = text.prefix(256)
            rawValue = Self.spellings[Self.squeezed(text)] ?? String(text)
        }

        private static func squeezed(_ text: some StringProtocol) -> String {
            text.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
        }

        /// The known words by their letters alone.
        private static let spellings = Dictionary(
            OAuthErrorRule.knownWords.map { (squeezed($0.rawValue), $0.rawValue) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

/// RFC 6749 sections 4.1.2.1 and 5.2.
extension OAuthError.Word {
    /// A parameter is missing, repeated or wrong.
    public static let invalidRequest: Self = "invalid_request"
    /// Client authentication failed.
    public static let invalidClient: Self = "invalid_client"
    /// The code, refresh token or other grant is invalid, expired, revoked, or was issued to another client.
    public static let invalidGrant: Self = "invalid_grant"
    /// The client may not use this grant.
    public static let unauthorizedClient: Self = "unauthorized_client"
    /// The server does not know this grant.
    public static let unsupportedGrantType: Self = "unsupported_grant_type"
    /// The scope is invalid, unknown or more than was granted.
    public static let invalidScope: Self = "invalid_scope"
    /// The person or the server said no.
    public static let accessDenied: Self = "access_denied"
    /// The server does not know this way of obtaining an answer.
    public static let unsupportedResponseType: Self = "unsupported_response_type"
    /// The server met an unexpected condition.
    public static let serverError: Self = "server_error"
    /// The server is overloaded or under maintenance.
    public static let temporarilyUnavailable: Self = "temporarily_unavailable"
}

/// RFC 6750, RFC 7009, RFC 8628, RFC 8707, RFC 9396, RFC 9449 and RFC 9470.
extension OAuthError.Word {
    /// The token is expired, revoked, malformed or otherwise invalid (RFC 6750 section 3.1).
    public static let invalidToken: Self = "invalid_token"
    /// The request needs more than the token allows (RFC 6750 section 3.1).
    public static let insufficientScope: Self = "insufficient_scope"
    /// The server does not revoke tokens of this type (RFC 7009 section 2.2.1).
    public static let unsupportedTokenType: Self = "unsupported_token_type"
    /// The person has not answered yet (RFC 8628 section 3.5).
    public static let authorizationPending: Self = "authorization_pending"
    /// As ``authorizationPending``, and the polling has to be slower from now on (RFC 8628 section 3.5).
    public static let slowDown: Self = "slow_down"
    /// The device code has expired (RFC 8628 section 3.5).
    public static let expiredToken: Self = "expired_token"
    /// The resource or audience is unknown or not acceptable (RFC 8693 section 2.2.2, RFC 8707 section 2).
    public static let invalidTarget: Self = "invalid_target"
    /// The authorization details are unknown or not acceptable (RFC 9396 section 5).
    public static let invalidAuthorizationDetails: Self = "invalid_authorization_details"
    /// The DPoP proof is invalid (RFC 9449 section 5).
    public static let invalidDPoPProof: Self = "invalid_dpop_proof"
    /// The DPoP proof has to carry the server's nonce (RFC 9449 section 8).
    public static let useDPoPNonce: Self = "use_dpop_nonce"
    /// The person has to authenticate more strongly or again (RFC 9470 section 3).
    public static let insufficientUserAuthentication: Self = "insufficient_user_authentication"
}

/// OpenID Connect Core 1.0 section 3.1.2.6 and its extension for unmet authentication requirements.
extension OAuthError.Word {
    /// The server cannot go on without showing something to the person.
    public static let interactionRequired: Self = "interaction_required"
    /// The person has to sign in at the server.
    public static let loginRequired: Self = "login_required"
    /// The person has to choose an account at the server.
    public static let accountSelectionRequired: Self = "account_selection_required"
    /// The person has to consent at the server.
    public static let consentRequired: Self = "consent_required"
    /// The `request_uri` cannot be fetched or is invalid.
    public static let invalidRequestURI: Self = "invalid_request_uri"
    /// The request object is invalid.
    public static let invalidRequestObject: Self = "invalid_request_object"
    /// The server does not support `request`.
    public static let requestNotSupported: Self = "request_not_supported"
    /// The server does not support `request_uri`.
    public static let requestURINotSupported: Self = "request_uri_not_supported"
    /// The server does not support `registration`.
    public static let registrationNotSupported: Self = "registration_not_supported"
    /// The authentication that was asked for cannot be had.
    public static let unmetAuthenticationRequirements: Self = "unmet_authentication_requirements"
}

/// RFC 7591 section 3.2.2.
extension OAuthError.Word {
    /// A redirect URI of the client is invalid.
    public static let invalidRedirectURI: Self = "invalid_redirect_uri"
    /// A member of the client's metadata is invalid.
    public static let invalidClientMetadata: Self = "invalid_client_metadata"
    /// The software statement is invalid.
    public static let invalidSoftwareStatement: Self = "invalid_software_statement"
    /// The software statement is not approved.
    public static let unapprovedSoftwareStatement: Self = "unapproved_software_statement"
}
