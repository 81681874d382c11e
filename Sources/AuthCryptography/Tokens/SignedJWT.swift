#if Cryptography
import AuthRecovery
import HTTPRecovery

/// Makes signed JWTs in compact form (RFC 7515 section 7.1).
enum SignedJWT {
    /// Signs header and claims.
    static func make(
        header: [JSONValue.Member],
        claims: JSONValue,
        sign: ([UInt8]) throws -> [UInt8]
    ) rethrows -> Secret {
        let parts = [JSONValue.object(header), claims].map { Base64.encodeForURL($0.description.utf8) }
        let input = parts.joined(separator: ".")
        return Secret("\(input).\(Base64.encodeForURL(try sign(Array(input.utf8))))")
    }
}
#endif
