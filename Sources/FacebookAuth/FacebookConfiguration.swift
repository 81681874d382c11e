public import AuthRecovery
import HTTPRecovery

/// What a program wants of Facebook beside its app.
public struct FacebookConfiguration: Sendable {
    /// How tokens are presented.
    public enum TokenPlacement: Sendable, Hashable {
        /// In the `Authorization` field.
        case header
        /// As `access_token` in the query, as old servers want it; events and errors never show it.
        case query
    }

    /// The version of the API, such as `v25.0`, which is the default; nil speaks the app's own.
    public var version: String?
    /// How tokens are presented; by default in the header.
    public var tokenPlacement: TokenPlacement
    /// How people sign in in a browser; nil, the default, signs them in by device login.
    public var webLogin: WebLogin?
    /// What a sign-in asks for; by default `public_profile`.
    public var permissions: [String]
    /// The fields that are read of the person; by default `id` and `name`.
    public var profileFields: [String]
    /// Whether failures are recovered from: repeated, waited for, and signed in again if a responder is given.
    ///
    /// By default they are. Limits that the server has stated are kept in any case.
    public var recoversFromErrors: Bool
    /// The vendor's table of errors, for codes that are no limit, refuse no token and send nobody to Facebook; by default
    /// none.
    ///
    /// ``Facebook/loadErrorConfiguration()`` fetches the one of the app.
    public var errors: FacebookErrorConfiguration?
    /// How calls are slowed down before a limit is reached.
    public var pacing: FacebookPacing.Configuration
    /// What verifies the signatures of ID tokens with Facebook's keys, such as `JSONWebKey.Verifier` of `AuthCryptography`;
    /// nil, the default, takes those that the token endpoint has sent for what they are, and no other
    /// (``Facebook/verify(idToken:nonce:)``).
    public var signatures: (any OAuthClient.SignatureVerifier)?
    /// How long before its end a token is exchanged for a new one, if the app has its secret; by default 7 days.
    ///
    /// Of a shorter life a tenth counts.
    public var exchangeLeeway: Duration

    /// Creates a configuration.
    public init(
        version: String? = "v25.0",
        tokenPlacement: TokenPlacement = .header,
        webLogin: WebLogin? = nil,
        permissions: [String] = ["public_profile"],
        profileFields: [String] = ["id", "name"],
        recoversFromErrors: Bool = true,
        errors: FacebookErrorConfiguration? = nil,
        pacing: FacebookPacing.Configuration = FacebookPacing.Configuration(),
        signatures: (any OAuthClient.SignatureVerifier)? = nil,
        exchangeLeeway: Duration = .seconds(7 * 86_400)
    ) {
        self.version = version
        self.tokenPlacement = tokenPlacement
        self.webLogin = webLogin
        self.permissions = permissions
        self.profileFields = profileFields
        self.recoversFromErrors = recoversFromErrors
        self.errors = errors
        self.pacing = pacing
        self.signatures = signatures
        self.exchangeLeeway = max(exchangeLeeway, .zero)
    }
}
