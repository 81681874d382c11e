import HTTPRecovery
import HTTPRecoveryTesting

// Proofs of possession (RFC 9449).
extension Auth0World {
    /// Checks the proof of a request and tells the thumbprint of its key; nil if none came and none is needed.
    ///
    /// The token endpoint demands a nonce, the profile does not.
    mutating func checkProof(_ exchange: Auth0Exchange, accessToken: String?) throws(Auth0Failure) -> String? {
        let settings = exchange.settings
        let isNeeded = accessToken != nil || settings.dpop == "required"
        let hasCome = exchange.request.header("dpop") != nil
        if !isNeeded, settings.dpop == "off" || !hasCome { return nil }
        let nonce = settings.demandsNonce && accessToken == nil ? currentNonce() : nil
        do throws(DPoPProof.Refusal) {
            let origin = String(exchange.tenant.dropLast(Self.base.count))
            let proof = try DPoPProof(
                of: exchange.request,
                to: origin,
                at: exchange.now,
                accessToken: accessToken,
                nonce: nonce
            )
            let end = exchange.now + 2 * DPoPProof.clockTolerance
            guard proofs.updateValue(end, forKey: "\(proof.thumbprint) \(proof.identifier)") == nil else {
                throw .usedBefore
            }
            return proof.thumbprint
        } catch {
            var failure = Auth0Failure(accessToken == nil ? 400 : 401, error.code, error.text)
            if let nonce { failure.headers = [.init(name: "DPoP-Nonce", value: nonce)] }
            throw failure
        }
    }

    private mutating func currentNonce() -> String {
        let value = nonce ?? random.letters(22)
        nonce = value
        return value
    }
}
