import HTTPRecovery

extension OAuthClient {
    /// What an authorization endpoint has sent along with its redirect to the client (RFC 6749 section 4.1.2).
    ///
    /// Nothing in it can be believed before ``OAuthClient/AuthorizationRequest/grant(for:)`` has compared it with the request. A service
    /// that has several requests under way finds the right one by ``state``.
    public struct AuthorizationRedirect: Sendable {
        /// The code.
        public let code: Secret?
        /// The state of the request.
        public let state: Secret?
        /// The error in place of a code.
        public let error: OAuthError?
        /// Who answers (RFC 9207).
        public let issuer: String?
        /// Whether a parameter occurs twice, against RFC 6749 section 3.1: somebody may have added one.
        let isAmbiguous: Bool

        /// Reads the URL to which the redirect led; a URL without such parameters gives a redirect without any.
        public init(url: String) {
            let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let query = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
            let redirect = OAuthClient.AuthorizationRedirect(query: String(query ?? ""))
            // Some servers answer in the fragment, as RFC 6749 section 4.2.2 has it for other flows.
            let isElsewhere = redirect.code == nil && redirect.error == nil && parts.count > 1
            self = isElsewhere ? OAuthClient.AuthorizationRedirect(query: String(parts[1])) : redirect
        }

        /// Reads the query, or the form that was posted in its place.
        public init(query: String) {
            let fields = FormFields(parsing: query.utf8)
            code = fields["code"].first.flatMap { $0.isEmpty ? nil : $0 }
            state = fields["state"].first
            issuer = fields["iss"].first?.reveal()
            error = fields["error"].first.flatMap { text in
                let detail = fields["error_description"].first?.reveal().bounded(to: 1024)
                return text.isEmpty ? nil : OAuthError(word: OAuthError.Word(reading: text.reveal()), detail: detail)
            }
            isAmbiguous = ["code", "state", "error", "iss"].contains { fields[$0].count > 1 }
        }
    }
}
