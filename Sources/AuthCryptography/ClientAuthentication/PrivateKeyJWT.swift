#if Cryptography
public import AuthRecovery
import HTTPRecovery

/// The client proves itself with an assertion that its private key has signed: `private_key_jwt` (RFC 7523, OpenID
/// Connect Core 1.0 section 9).
///
/// Each attempt gets an assertion of its own, since servers accept one only once.
///
/// ```swift
/// let oauth = OAuthClient(
///     server: server,
///     clientID: "app",
///     authentication: PrivateKeyJWT(try SigningKey(file: "/etc/app/client.pem"), keyID: "2030-01"),
///     client: client
/// )
/// ```
public struct PrivateKeyJWT: ClientAuthentication {
    private let key: SigningKey
    private let keyID: String?
    private let audience: AssertionAudience
    private let lifetime: Duration
    private let clocks: ServerClocks?

    /// Creates the authentication.
    ///
    /// - Parameters:
    ///   - key: The key that signs; the server knows its public part.
    ///   - keyID: The name under which the server knows it (`kid`); nil, the default, names none.
    ///   - audience: Whom the assertions are made for. Default: the token endpoint.
    ///   - lifetime: How long an assertion is good; 1 to 60 s, default: 60 s.
    ///   - clocks: What is known of the server's clock; nil, the default, goes by the local one. `ServerClocks.Learning` among
    ///     the attempt layers of the OAuth client keeps it.
    public init(
        _ key: SigningKey,
        keyID: String? = nil,
        audience: AssertionAudience = .tokenEndpoint,
        lifetime: Duration = .seconds(60),
        clocks: ServerClocks? = nil
    ) {
        self.key = key
        self.keyID = keyID
        self.audience = audience
        self.lifetime = ClientAssertion.bounded(lifetime)
        self.clocks = clocks
    }

    /// Adds `client_id`, `client_assertion_type` and a fresh `client_assertion` to the body.
    ///
    /// - Throws: ``ClientAssertionError`` when the audience is not known.
    public func authenticate(_ attempt: inout OAuthClient.Attempt) throws {
        var header: [JSONValue.Member] = [
            JSONValue.Member("alg", .string(key.algorithm.rawValue)), JSONValue.Member("typ", "JWT"),
        ]
        if let keyID { header.append(JSONValue.Member("kid", .string(keyID))) }
        let assertion = try ClientAssertion(attempt, audience: audience, lifetime: lifetime, clocks: clocks)
        attempt.add(try SignedJWT.make(header: header, claims: assertion.claims, sign: key.signature), of: assertion)
    }
}
#endif
