#if Cryptography
internal import Crypto
public import HTTPRecovery

/// A public key as a JSON Web Key (RFC 7517), such as stands in a proof or in a client's `jwks`.
public struct JSONWebKey: Sendable, Hashable {
    /// The key's members.
    public let json: JSONValue

    /// Wraps a key.
    public init(_ json: JSONValue) {
        self.json = json
    }

    /// The SHA-256 thumbprint in Base64url (RFC 7638, for OKP keys RFC 8037); nil if a member that it is made of is
    /// missing or the key's type is not known.
    ///
    /// It is made of the members that the type requires, so that name, use and algorithm of the key do not count.
    public var thumbprint: String? {
        guard let type = json["kty"]?.string, let names = Self.required[type] else { return nil }
        var members: [JSONValue.Member] = []
        for name in names {
            guard let value = json[name]?.string else { return nil }
            members.append(JSONValue.Member(name, .string(value)))
        }
        let text = JSONValue.object(members).description
        return Base64.encodeForURL(Array(Crypto.SHA256.hash(data: Array(text.utf8))))
    }

    /// The members that each type requires, in lexicographic order.
    private static let required = [
        "EC": ["crv", "kty", "x", "y"], "OKP": ["crv", "kty", "x"], "RSA": ["e", "kty", "n"], "oct": ["k", "kty"],
    ]
}
#endif
