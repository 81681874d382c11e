import HTTPRecovery

/// A JSON Web Token taken apart; nothing is believed of it yet.
struct OAuthJWT: Sendable {
    let header: JSONValue
    let claims: JSONValue
    let content: String
    let signature: [UInt8]

    /// Nil for what is not one, or longer than 16 KiB.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 16_384, parts.count == 3, let head = Base64.decode(parts[0].utf8),
            let body = Base64.decode(parts[1].utf8), let signature = Base64.decode(parts[2].utf8),
            let header = try? JSONValue(parsing: head), let claims = try? JSONValue(parsing: body),
            header.members != nil, claims.members != nil
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        content = "\(parts[0]).\(parts[1])"
    }

    /// Whether it is signed with a key pair, judging by its header.
    var isAsymmetric: Bool {
        let algorithms = [
            "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
        ]
        return !signature.isEmpty && algorithms.contains(header["alg"]?.string ?? "")
    }

    /// A claim that is a text of 1 to 256 bytes.
    func identifier(_ name: String) -> String? {
        claims[name]?.string.flatMap { (1...256).contains($0.utf8.count) ? $0 : nil }
    }

    /// Whether it is signed (HS256) with a key.
    func isSigned(with key: [UInt8]) -> Bool { signature == HMAC.sha256(Array(content.utf8), key: key) }

    /// A token, signed (HS256) with a key, whose name may be told.
    static func make(type: String, claims: JSONValue, key: [UInt8], keyID: String? = nil) -> String {
        let header: JSONValue = .present(["alg": "HS256", "kid": keyID.map(JSONValue.string), "typ": .string(type)])
        let content = [header, claims].map { Base64.encodeForURL($0.text.utf8) }.joined(separator: ".")
        return content + "." + Base64.encodeForURL(HMAC.sha256(Array(content.utf8), key: key))
    }
}
