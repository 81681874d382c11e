#if Cryptography
/// Whom a client's assertion is made for (the claim `aud`, RFC 7523 section 3).
public enum AssertionAudience: Sendable, Hashable {
    /// The URL of the token endpoint, as most servers want it.
    case tokenEndpoint
    /// The server's issuer, as newer profiles want it: then no other server can take the assertion for its own.
    case issuer
    /// Another text, as the server documents it.
    case other(String)
}
#endif
