public import HTTPRecovery

extension OAuthClient {
    /// What a client presents at the token endpoint.
    public struct Grant: Sendable {
        /// The fields of the request, `grant_type` first; the client's authentication is added to each attempt.
        public var form: FormFields

        /// The sort of credential that is presented, so that a refusal is told of the right one.
        public var presents: Outcome.CredentialKind

        /// Whether the request may be sent again when nobody knows whether the server has acted on it.
        public var resend: RequestOptions.ResendPermission

        /// Until when the request may leave, and what it comes to after; nil, the default, is no limit.
        ///
        /// For what is presented and has a known end, such as a code.
        public var sendBy: RequestOptions.SendBy?

        /// Creates a grant of any type, such as the JWT bearer grant of RFC 7523.
        ///
        /// - Parameters:
        ///   - type: The grant type: a word or a URN.
        ///   - parameters: The parameters of the grant.
        ///   - presents: The sort of credential that is presented. Default: the client's own.
        ///   - resend: Whether the request may be sent again on doubt. Default: as its method says, so not.
        public init(
            type: String,
            parameters: FormFields = FormFields(),
            presents: Outcome.CredentialKind = .client,
            resend: RequestOptions.ResendPermission = .byMethod
        ) {
            form = ["grant_type": type]
            form.add(parameters)
            self.presents = presents
            self.resend = resend
        }

        /// A refresh token (RFC 6749 section 6).
        ///
        /// It counts as spent once it was sent, since a server may replace it with every use.
        ///
        /// - Parameters:
        ///   - token: The refresh token.
        ///   - scope: Less than was granted; nil for the same.
        ///   - parameters: Further parameters of the request.
        public static func refreshToken(
            _ token: Secret,
            scope: String? = nil,
            parameters: FormFields = FormFields()
        ) -> OAuthClient.Grant {
            var fields = FormFields()
            fields.add("refresh_token", secret: token)
            fields.add("scope", scope)
            fields.add(parameters)
            return OAuthClient.Grant(type: "refresh_token", parameters: fields, presents: .refresh, resend: .spending)
        }

        /// The client's own credentials (RFC 6749 section 4.4).
        ///
        /// It may be sent again on doubt: a token more does no harm.
        ///
        /// - Parameters:
        ///   - scope: What is asked for; nil for the server's default.
        ///   - parameters: Further parameters of the request, such as `audience`.
        public static func clientCredentials(
            scope: String? = nil,
            parameters: FormFields = FormFields()
        ) -> OAuthClient.Grant {
            var fields = FormFields()
            fields.add("scope", scope)
            fields.add(parameters)
            return OAuthClient.Grant(type: "client_credentials", parameters: fields, resend: .replayable)
        }

        /// An authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
        ///
        /// - Parameters:
        ///   - code: The code; it can be used once.
        ///   - redirectURI: The redirect URI of the authorization request.
        ///   - proofKey: The proof key of the authorization request.
        ///   - parameters: Further parameters of the request.
        public static func authorizationCode(
            _ code: Secret,
            redirectURI: String?,
            proofKey: OAuthClient.ProofKey?,
            parameters: FormFields = FormFields()
        ) -> OAuthClient.Grant {
            var fields = FormFields()
            fields.add("code", secret: code)
            fields.add("redirect_uri", redirectURI)
            fields.add("code_verifier", secret: proofKey?.verifier)
            fields.add(parameters)
            return OAuthClient.Grant(type: "authorization_code", parameters: fields, presents: .code, resend: .spending)
        }

        /// A device code (RFC 8628 section 3.4).
        ///
        /// ``OAuthClient/tokens(for:observer:)`` asks with it until the person has answered.
        ///
        /// - Parameter code: The device code.
        public static func deviceCode(_ code: Secret) -> OAuthClient.Grant {
            var fields = FormFields()
            fields.add("device_code", secret: code)
            return OAuthClient.Grant(
                type: "urn:ietf:params:oauth:grant-type:device_code",
                parameters: fields,
                presents: .device,
                resend: .spending
            )
        }

        /// A token to be exchanged for another one (RFC 8693).
        ///
        /// - Parameters:
        ///   - subject: The token of the party on whose behalf the request is made.
        ///   - actor: The token of the party that acts for it; nil if it acts itself.
        ///   - requestedType: The sort of token that is wanted; nil for the server's default.
        ///   - audience: The logical names of the services that the token is for.
        ///   - resource: The URLs of the services that the token is for.
        ///   - scope: What is asked for; nil for the server's default.
        ///   - parameters: Further parameters of the request.
        public static func tokenExchange(
            subject: OAuthClient.ExchangeToken,
            actor: OAuthClient.ExchangeToken? = nil,
            requestedType: OAuthClient.TokenType? = nil,
            audience: [String] = [],
            resource: [String] = [],
            scope: String? = nil,
            parameters: FormFields = FormFields()
        ) -> OAuthClient.Grant {
            var fields = FormFields()
            for url in resource { fields.add("resource", url) }
            for name in audience { fields.add("audience", name) }
            fields.add("scope", scope)
            fields.add("requested_token_type", requestedType?.rawValue)
            fields.add("subject_token", secret: subject.token)
            fields.add("subject_token_type", subject.type.rawValue)
            fields.add("actor_token", secret: actor?.token)
            fields.add("actor_token_type", actor?.type.rawValue)
            fields.add(parameters)
            return OAuthClient.Grant(type: "urn:ietf:params:oauth:grant-type:token-exchange", parameters: fields)
        }
    }
}
