// Proofs of possession (RFC 9449).
extension OAuthWorld {
    /// How far the clock of a client may be off where no nonce tells the age of a proof.
    private static let clockTolerance: Int64 = 300_000

    /// The nonce that proofs need; a new one once the old one has lived long enough.
    mutating func currentNonce(_ settings: SandboxOAuthSettings, now: Int64) -> String {
        if let nonce, now - nonce.since < settings.nonceLifetime { return nonce.value }
        let fresh = random.letters(22)
        nonce = (fresh, now)
        return fresh
    }

    /// Checks the proof of a request and tells the thumbprint of its key.
    ///
    /// Everything but the signature is checked. Where the server demands its nonce, that nonce tells how old the proof
    /// is, and `iat` only has to be a number (section 11.1); otherwise it has to be within five minutes of the
    /// sandbox's clock.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - accessToken: The token that comes with it; nil at the token endpoint.
    /// - Returns: The thumbprint, or nil for a request without a proof where none is needed.
    mutating func checkProof(_ exchange: OAuthExchange, accessToken: String?) throws(OAuthFailure) -> String? {
        let settings = exchange.settings
        let isAtResource = accessToken != nil
        guard settings.dpop != "off" || isAtResource else { return nil }
        let proofs = exchange.request.headers.filter { $0.name == "dpop" }
        if proofs.isEmpty, !isAtResource, settings.dpop == "optional" { return nil }
        guard proofs.count == 1 else {
            throw refusal("invalid_dpop_proof", "There has to be one DPoP header.", isAtResource)
        }
        guard let proof = OAuthJWT(proofs[0].value), proof.header["typ"]?.string?.lowercased() == "dpop+jwt",
            proof.isAsymmetric, !proof.signature.isEmpty, let key = proof.header["jwk"],
            let thumbprint = Self.thumbprint(key)
        else { throw refusal("invalid_dpop_proof", "The DPoP header is not a proof.", isAtResource) }
        let claims = proof.claims
        guard let identifier = claims["jti"]?.string, !identifier.isEmpty, identifier.utf8.count <= 256,
            let issuedAt = claims["iat"]?.number
        else { throw refusal("invalid_dpop_proof", "jti or iat is missing in the proof.", isAtResource) }
        guard claims["htm"]?.string == exchange.request.method else {
            throw refusal("invalid_dpop_proof", "The proof is for another method.", isAtResource)
        }
        guard let target = claims["htu"]?.string, Self.isSame(target, exchange.origin, exchange.request.path) else {
            throw refusal("invalid_dpop_proof", "The proof is for another address.", isAtResource)
        }
        if let accessToken {
            guard claims["ath"]?.string == Base64URL.encode(SHA256.hash(Array(accessToken.utf8))) else {
                throw refusal("invalid_dpop_proof", "The proof is for another token.", isAtResource)
            }
        }
        if settings.demandsNonce {
            guard claims["nonce"]?.string == currentNonce(settings, now: exchange.now) else {
                throw refusal("use_dpop_nonce", "The proof needs the server's nonce.", isAtResource)
            }
        } else if abs(issuedAt * 1000 - Double(exchange.now)) > Double(Self.clockTolerance) {
            throw refusal("invalid_dpop_proof", "The proof is too old, or from the future.", isAtResource)
        }
        let memory = settings.demandsNonce ? settings.nonceLifetime : 2 * Self.clockTolerance
        guard use("proof \(thumbprint) \(identifier)", until: exchange.now + memory) else {
            throw refusal("invalid_dpop_proof", "The proof was used before.", isAtResource)
        }
        return thumbprint
    }

    /// A JSON error at the token endpoint, a challenge at a resource.
    private func refusal(_ code: String, _ description: String, _ isAtResource: Bool) -> OAuthFailure {
        guard isAtResource else { return OAuthFailure(code, description) }
        return OAuthFailure(
            challenge: 401,
            code,
            description,
            scheme: "DPoP",
            parameters: [("algs", "ES256 RS256 PS256 EdDSA")]
        )
    }

    /// Whether a proof's address is that of the request, without query and fragment.
    private static func isSame(_ target: String, _ origin: String, _ path: String) -> Bool {
        let target = target.prefix { $0 != "?" && $0 != "#" }
        guard let mark = target.firstRange(of: "://") else { return false }
        let scheme = target[..<mark.lowerBound].lowercased()
        let rest = target[mark.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash].lowercased()
        let usual = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(usual) { authority.removeLast(usual.count) }
        // Behind a proxy that ends TLS the client sees https.
        guard scheme == "http" || scheme == "https" else { return false }
        var own = String(origin.dropFirst("http://".count))
        if own.hasSuffix(usual) { own.removeLast(usual.count) }
        return authority == own && (slash == rest.endIndex ? "/" : String(rest[slash...])) == path
    }

    /// RFC 7638, for the three types of public key; nil for another, and for a private one.
    static func thumbprint(_ key: JSONValue) -> String? {
        let names: [String]
        switch key["kty"]?.string {
        case "EC": names = ["crv", "kty", "x", "y"]
        case "RSA": names = ["e", "kty", "n"]
        case "OKP": names = ["crv", "kty", "x"]
        default: return nil
        }
        guard key["d"] == nil else { return nil }
        var members: [JSONValue.Member] = []
        for name in names {
            guard let value = key[name]?.string, !value.isEmpty else { return nil }
            members.append(.init(key: name, value: .string(value)))
        }
        return Base64URL.encode(SHA256.hash(Array(JSONValue.object(members).text.utf8)))
    }
}
