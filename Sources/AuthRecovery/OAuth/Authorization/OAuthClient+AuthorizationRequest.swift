public import HTTPRecovery

extension OAuthClient {
    /// A request to the authorization endpoint that a person is sent to, and what its answer is compared with.
    ///
    /// ```swift
    /// let request = try oauth.authorizationRequest(redirectURI: "http://127.0.0.1:8123/", scope: "openid")
    /// open(request.url)
    /// let answer = try await oauth.tokens(for: request, redirectedTo: await redirect())
    /// ```
    ///
    /// A service that serves the redirect elsewhere stores the parts and puts them together again.
    public struct AuthorizationRequest: Sendable {
        /// The URL to open in the person's browser.
        public let url: String
        /// What tells the answer to this request from any other.
        public let state: Secret
        /// What ties the ID token to this request; nil if none was asked for.
        public let nonce: Secret?
        /// The proof key of this request.
        public let proofKey: OAuthClient.ProofKey
        /// Where the person is sent back to.
        public let redirectURI: String
        /// Who has to answer; nil if it is not known.
        public let issuer: String?
        /// Whether an answer that does not say who answers is refused (RFC 9207).
        public let requiresIssuer: Bool

        /// Puts a request together again.
        public init(
            url: String,
            state: Secret,
            nonce: Secret?,
            proofKey: OAuthClient.ProofKey,
            redirectURI: String,
            issuer: String?,
            requiresIssuer: Bool
        ) {
            self.url = url
            self.state = state
            self.nonce = nonce
            self.proofKey = proofKey
            self.redirectURI = redirectURI
            self.issuer = issuer
            self.requiresIssuer = requiresIssuer
        }

        /// What the redirect allows to present at the token endpoint.
        ///
        /// - Throws: `RecoveryError`: of the kind `invalid_request` with the code `state_mismatch` or `issuer_mismatch` and
        ///   the remedy `restart_flow` if the redirect is no answer of this server to this request; with the server's
        ///   error word if it refuses; of the kind `unreadable` if there is neither a code nor an error.
        public func grant(for redirect: OAuthClient.AuthorizationRedirect) throws(RecoveryError) -> OAuthClient.Grant {
            // An error is believed no more than a code: whoever can make one up could end flows.
            guard redirect.state == state, !redirect.isAmbiguous else { throw Self.mismatch("state") }
            if redirect.issuer != issuer, issuer != nil, redirect.issuer != nil || requiresIssuer {
                throw Self.mismatch("issuer")
            }
            if let error = redirect.error {
                var outcome = error.outcome(presented: nil) ?? Outcome(.unknown)
                outcome.code = error.word.rawValue
                outcome.message = error.detail
                outcome.processed = .yes
                throw RecoveryError(outcome: outcome, reason: .notRecoverable)
            }
            guard let code = redirect.code else {
                throw RecoveryError(outcome: Outcome(.unreadable, processed: .yes), reason: .notRecoverable)
            }
            return .authorizationCode(code, redirectURI: redirectURI, proofKey: proofKey)
        }

        /// Compares the ID token of the answer with the request (OpenID Connect Core 1.0 section 3.1.3.7, step 11).
        ///
        /// - Throws: `RecoveryError` with the code `nonce_mismatch` if the token is not the request's, and with
        ///   `id_token_missing` if a request that asked for one was given none: who could take the token out of an answer
        ///   could put in another's code.
        package func check(_ answer: OAuthClient.TokenAnswer) throws(RecoveryError) {
            try Self.check(answer, nonce: nonce)
        }

        /// The same for a request of which the nonce alone was kept; without one there is nothing to compare.
        package static func check(_ answer: OAuthClient.TokenAnswer, nonce: Secret?) throws(RecoveryError) {
            guard let nonce else { return }
            guard let token = answer.idToken else { throw refused("id_token_missing", parameter: "id_token") }
            guard UnverifiedJWT(token)?.claims["nonce"]?.string == nonce.reveal() else {
                throw OAuthClient.IDTokenKeys.mismatch("nonce", claim: "nonce")
            }
        }

        private static func mismatch(_ name: String) -> RecoveryError {
            refused("\(name)_mismatch", parameter: name == "issuer" ? "iss" : name)
        }

        private static func refused(_ code: String, parameter: String) -> RecoveryError {
            var outcome = Outcome(.invalidRequest, processed: .yes, remedies: [.restartFlow])
            outcome.code = code
            outcome.parameter = parameter
            return RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
    }
}

extension OAuthClient.AuthorizationRequest: Redacted {
    /// A placeholder: the URL holds the state.
    public var description: String { "OAuthClient.AuthorizationRequest" }
}
