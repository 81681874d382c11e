import HTTPRecovery
import HTTPRecoveryTesting

/// A proof of possession that has come with a request (RFC 9449), and holds.
struct DPoPProof: Sendable {
    /// How far the clock of a client may be off if no nonce tells the age of a proof.
    static let clockTolerance: Int64 = 300_000

    /// The thumbprint of its key.
    let thumbprint: String
    /// What tells it from others, so that it is taken once.
    let identifier: String

    /// Why a proof is not taken.
    struct Refusal: Error, Sendable {
        var code = "invalid_dpop_proof"
        let text: String

        static let usedBefore = Refusal(text: "The proof was used before.")
    }

    /// Checks the proof of a request: everything but the signature.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - origin: The scheme and the authority that it was sent to.
    ///   - now: The server's time.
    ///   - accessToken: What it is presented with; nil at the token endpoint.
    ///   - nonce: What the proof has to hold, which tells how old it is; nil for none: `iat` is within five minutes of the
    ///     server's clock then. With one it only has to be a number (section 11.1).
    init(
        of request: SandboxRequest,
        to origin: String,
        at now: Int64,
        accessToken: String?,
        nonce: String?
    ) throws(Refusal) {
        let proofs = request.headers.filter { $0.name == "dpop" }
        guard proofs.count == 1 else { throw Refusal(text: "There has to be one DPoP header.") }
        guard let proof = OAuthJWT(proofs[0].value), proof.header["typ"]?.string?.lowercased() == "dpop+jwt",
            proof.isAsymmetric, let thumbprint = proof.header["jwk"].flatMap(Self.thumbprint)
        else { throw Refusal(text: "The DPoP header is not a proof.") }
        let claims = proof.claims
        guard let identifier = proof.identifier("jti"), let issuedAt = claims["iat"]?.number?.double else {
            throw Refusal(text: "jti or iat is missing in the proof.")
        }
        let hash = accessToken.map { Base64.encodeForURL(SHA256.hash($0.utf8)) }
        let isTimely = nonce != nil || abs(issuedAt * 1000 - Double(now)) <= Double(Self.clockTolerance)
        let rules: KeyValuePairs = [
            "The proof is for another method.": claims["htm"]?.string == request.method,
            "The proof is for another address.": Self.isSame(claims["htu"]?.string ?? "", origin, request.path),
            "The proof is for another token.": hash == nil || claims["ath"]?.string == hash,
            "The proof is too old, or from the future.": isTimely,
        ]
        for (text, holds) in rules where !holds { throw Refusal(text: text) }
        if let nonce, claims["nonce"]?.string != nonce {
            throw Refusal(code: "use_dpop_nonce", text: "The proof needs the server's nonce.")
        }
        (self.thumbprint, self.identifier) = (thumbprint, identifier)
    }

    /// Whether a proof's address is that of the request, without query and fragment.
    ///
    /// Behind a proxy that ends TLS the client sees https.
    private static func isSame(_ target: String, _ origin: String, _ path: String) -> Bool {
        let target = target.prefix { $0 != "?" && $0 != "#" }
        guard let mark = target.firstRange(of: "://"),
            let port = ["http": ":80", "https": ":443"][target[..<mark.lowerBound].lowercased()]
        else { return false }
        let rest = target[mark.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        func withoutPort(_ authority: String) -> Substring {
            authority.hasSuffix(port) ? authority.dropLast(port.count) : authority[...]
        }
        return withoutPort(rest[..<slash].lowercased()) == withoutPort(String(origin.dropFirst("http://".count)))
            && (slash == rest.endIndex ? "/" : rest[slash...]) == path
    }

    /// RFC 7638, for the three types of public key; nil for another, and for a private one.
    static func thumbprint(_ key: JSONValue) -> String? {
        let names = ["EC": ["crv", "kty", "x", "y"], "RSA": ["e", "kty", "n"], "OKP": ["crv", "kty", "x"]]
        guard key["d"] == nil, let names = names[key["kty"]?.string ?? ""] else { return nil }
        let members = names.compactMap { name in
            key[name]?.string.flatMap { $0.isEmpty ? nil : JSONValue.Member(name, .string($0)) }
        }
        guard members.count == names.count else { return nil }
        return Base64.encodeForURL(SHA256.hash(Array(JSONValue.object(members).text.utf8)))
    }
}
