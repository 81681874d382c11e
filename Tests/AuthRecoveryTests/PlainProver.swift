import AuthRecovery
import HTTPRecovery

/// A prover for tests: its proofs are their claims, not signed.
struct PlainProver: DPoPAuthorization.Prover {
    var failure: (any Error & Sendable)?
    var thumbprint: String { "plain" }

    func proof(_ claims: DPoPAuthorization.Claims) throws -> Secret {
        if let failure { throw failure }
        return Secret(claims.json.description)
    }
}
