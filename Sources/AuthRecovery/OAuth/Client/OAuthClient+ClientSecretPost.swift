extension OAuthClient {
    /// The client's secret in the body (RFC 6749 section 2.3.1).
    public struct ClientSecretPost: ClientAuthentication {
        private let secret: Secret

        /// Creates the authentication.
        public init(_ secret: Secret) {
            self.secret = secret
        }

        /// Adds `client_id` and `client_secret` to the body.
        public func authenticate(_ attempt: inout OAuthClient.Attempt) {
            attempt.form.add("client_id", attempt.clientID)
            attempt.form.add("client_secret", secret: secret)
        }
    }
}

extension ClientAuthentication where Self == OAuthClient.ClientSecretPost {
    /// The secret in the body.
    public static func clientSecretPost(_ secret: Secret) -> OAuthClient.ClientSecretPost {
        OAuthClient.ClientSecretPost(secret)
    }
}
