import HTTPRecovery

// Proofs of possession (RFC 9449).
extension OAuthWorld {
    /// The nonce that proofs need; a new one once the old one has lived long enough.
    mutating func currentNonce(_ settings: SandboxOAuthSettings, now: Int64) -> String {
        if let nonce, now - nonce.since < settings.nonceLifetime { return nonce.value }
        let fresh = random.letters(22)
        nonce = (fresh, now)
        return fresh
    }

    /// Checks the proof of a request and tells the thumbprint of its key; nil if none came and none is needed.
    ///
    /// At the token endpoint there is no access token.
    mutating func checkProof(_ exchange: OAuthExchange, accessToken: String?) throws(OAuthFailure) -> String? {
        let settings = exchange.settings
        let isNeeded = accessToken != nil || settings.dpop == "required"
        let hasCome = exchange.request.header("dpop") != nil
        if !isNeeded, settings.dpop == "off" || !hasCome { return nil }
        do throws(DPoPProof.Refusal) {
            let proof = try DPoPProof(
                of: exchange.request,
                to: exchange.origin,
                at: exchange.now,
                accessToken: accessToken,
                nonce: settings.demandsNonce ? currentNonce(settings, now: exchange.now) : nil
            )
            let memory = settings.demandsNonce ? settings.nonceLifetime : 2 * DPoPProof.clockTolerance
            guard use("proof \(proof.thumbprint) \(proof.identifier)", until: exchange.now + memory) else {
                throw .usedBefore
            }
            return proof.thumbprint
        } catch {
            // A JSON error at the token endpoint, a challenge at a resource.
            guard accessToken != nil else { throw OAuthFailure(error.code, error.text) }
            let parameters = [("algs", "ES256 RS256 PS256 EdDSA")]
            throw OAuthFailure(challenge: 401, error.code, error.text, scheme: "DPoP", parameters: parameters)
        }
    }
}
