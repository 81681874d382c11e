#if Cryptography
public import AuthRecovery
internal import Crypto
import HTTPRecovery

/// The client proves itself with an assertion that is signed with its secret: `client_secret_jwt` (RFC 7523, OpenID
/// Connect Core 1.0 section 9), with HS256.
///
/// The secret itself is never sent. It should have 32 bytes or more (RFC 7518 section 3.2). Each attempt gets an
/// assertion of its own.
public struct ClientSecretJWT: ClientAuthentication {
    private let secret: Secret
    private let audience: AssertionAudience
    private let lifetime: Duration
    private let clocks: ServerClocks?

    /// Creates the authentication.
    ///
    /// - Parameters:
    ///   - secret: The client's secret; its UTF-8 bytes are the key.
    ///   - audience: Whom the assertions are made for. Default: the token endpoint.
    ///   - lifetime: How long an assertion is good; 1 to 60 s, default: 60 s.
    ///   - clocks: What is known of the server's clock; nil, the default, goes by the local one.
    public init(
        _ secret: Secret,
        audience: AssertionAudience = .tokenEndpoint,
        lifetime: Duration = .seconds(60),
        clocks: ServerClocks? = nil
    ) {
        self.secret = secret
        self.audience = audience
        self.lifetime = ClientAssertion.bounded(lifetime)
        self.clocks = clocks
    }

    /// Adds `client_id`, `client_assertion_type` and a fresh `client_assertion` to the body.
    ///
    /// - Throws: ``ClientAssertionError`` when the secret is empty or the audience is not known.
    public func authenticate(_ attempt: inout OAuthClient.Attempt) throws {
        guard !secret.isEmpty else { throw ClientAssertionError.emptySecret }
        let assertion = try ClientAssertion(attempt, audience: audience, lifetime: lifetime, clocks: clocks)
        let key = SymmetricKey(data: Array(secret.reveal().utf8))
        let jwt = SignedJWT.make(
            header: [JSONValue.Member("alg", "HS256"), JSONValue.Member("typ", "JWT")],
            claims: assertion.claims,
            sign: { Array(HMAC<Crypto.SHA256>.authenticationCode(for: $0, using: key)) }
        )
        attempt.add(jwt, of: assertion)
    }
}
#endif
