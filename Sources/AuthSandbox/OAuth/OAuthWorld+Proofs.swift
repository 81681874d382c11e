import HTTPRecovery
import HTTPRecoveryTesting

// Proofs of possession (RFC 9449).
extension OAuthWorld {
    /// How far the clock of a client may be off if no nonce tells the age of a proof.
    private static let clockTolerance: Int64 = 300_000

    /// The nonce that proofs need; a new one once the old one has lived long enough.
    mutating func currentNonce(_ settings: SandboxOAuthSettings, now: Int64) -> String {
        if let nonce, now - nonce.since < settings.nonceLifetime { return nonce.value }
        let fresh = random.letters(22)
        nonce = (fresh, now)
        return fresh
    }

    /// Checks the proof of a request and tells the thumbprint of its key; nil if none came and none is needed.
    ///
    /// Everything but the signature is checked. If the server demands its nonce, that nonce tells how old the proof
    /// is, and `iat` only has to be a number (section 11.1); otherwise it has to be within five minutes of the
    /// sandbox's clock. At the token endpoint there is no access token.
    mutating func checkProof(_ exchange: OAuthExchange, accessToken: String?) throws(OAuthFailure) -> String? {
        let settings = exchange.settings
        func refusal(_ description: String, _ code: String = "invalid_dpop_proof") -> OAuthFailure {
            // A JSON error at the token endpoint, a challenge at a resource.
            guard accessToken != nil else { return OAuthFailure(code, description) }
            let parameters = [("algs", "ES256 RS256 PS256 EdDSA")]
            return OAuthFailure(challenge: 401, code, description, scheme: "DPoP", parameters: parameters)
        }
        let proofs = exchange.request.headers.filter { $0.name == "dpop" }
        let isNeeded = accessToken != nil || settings.dpop == "required"
        if !isNeeded, settings.dpop == "off" || proofs.isEmpty { return nil }
        guard proofs.count == 1 else { throw refusal("There has to be one DPoP header.") }
        guard let proof = OAuthJWT(proofs[0].value), proof.header["typ"]?.string?.lowercased() == "dpop+jwt",
            proof.isAsymmetric, let thumbprint = proof.header["jwk"].flatMap(Self.thumbprint)
        else { throw refusal("The DPoP header is not a proof.") }
        let claims = proof.claims
        guard let identifier = proof.identifier("jti"), let issuedAt = claims["iat"]?.number?.double else {
            throw refusal("jti or iat is missing in the proof.")
        }
        let (request, age) = (exchange.request, abs(issuedAt * 1000 - Double(exchange.now)))
        let hash = accessToken.map { Base64.encodeForURL(SHA256.hash($0.utf8)) }
        let rules: KeyValuePairs = [
            "The proof is for another method.": claims["htm"]?.string == request.method,
            "The proof is for another address.": Self.isSame(
                claims["htu"]?.string ?? "",
                exchange.origin,
                request.path
            ),
            "The proof is for another token.": hash == nil || claims["ath"]?.string == hash,
            "The proof is too old, or from the future.": settings.demandsNonce || age <= Double(Self.clockTolerance),
        ]
        try OAuthFailure.demand(rules) { refusal($0) }
        if settings.demandsNonce, claims["nonce"]?.string != currentNonce(settings, now: exchange.now) {
            throw refusal("The proof needs the server's nonce.", "use_dpop_nonce")
        }
        let memory = settings.demandsNonce ? settings.nonceLifetime : 2 * Self.clockTolerance
        guard use("proof \(thumbprint) \(identifier)", until: exchange.now + memory) else {
            throw refusal("The proof was used before.")
        }
        return thumbprint
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
