extension OAuthClient {
    /// No proof: a public client names itself (RFC 6749 section 3.2.1).
    public struct PublicClient: ClientAuthentication {
        /// Creates the authentication.
        public init() {}

        /// Adds `client_id` to the body.
        public func authenticate(_ attempt: inout OAuthClient.Attempt) {
            attempt.form.add("client_id", attempt.clientID)
        }
    }
}

extension ClientAuthentication where Self == OAuthClient.PublicClient {
    /// No proof: the client names itself.
    public static var none: OAuthClient.PublicClient { OAuthClient.PublicClient() }
}
