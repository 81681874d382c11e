import HTTPRecovery
import HTTPTypes

extension OAuthClient {
    /// The client's secret as a password in the `Authorization` field (RFC 6749 section 2.3.1).
    public struct ClientSecretBasic: ClientAuthentication {
        private let secret: Secret

        /// Creates the authentication.
        public init(_ secret: Secret) {
            self.secret = secret
        }

        /// Adds the `Authorization` field: identifier and secret are form-encoded before they are joined, so that a colon
        /// in them does no harm.
        public func authenticate(_ attempt: inout OAuthClient.Attempt) {
            let pair = "\(FormFields.encode(attempt.clientID)):\(FormFields.encode(secret.reveal()))"
            attempt.headerFields.setAuthorization("Basic \(Base64.encode(pair.utf8))")
        }
    }
}

extension ClientAuthentication where Self == OAuthClient.ClientSecretBasic {
    /// The secret as a password in the `Authorization` field.
    public static func clientSecretBasic(_ secret: Secret) -> OAuthClient.ClientSecretBasic {
        OAuthClient.ClientSecretBasic(secret)
    }
}
