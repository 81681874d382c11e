import AuthRecovery
import HTTPRecovery

/// WebAuthn: by the authenticator of the configuration, else by what the responder brings.
extension OktaSignInMachine {
    /// Signs the challenge of a factor.
    mutating func sign(
        _ challenge: OktaFactorChallenge,
        _ verified: OktaFactor,
        _ factor: Factor
    ) async throws -> SignInStep<OktaSession> {
        guard let step = challenge.verify, let options = verified.challenge,
            var request = WebAuthn.SigningRequest(
                options: options,
                relyingPartyID: api.org.domain,
                origin: api.org.origin.description
            )
        else { throw missing("verify") }
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: factor, hint: options["challenge"]?.string))
        }
        // The credentials stand in the factors, each with its own.
        let known = challenge.transaction.factors.isEmpty ? [verified] : challenge.transaction.factors
        request.allowedCredentials = known.compactMap { $0.credentialID.flatMap { Base64.decode($0.utf8) } }
        let assertion = try await ceremony { [request] in try await authenticator.sign(request, on: $0) }
        let answer = remembering(.assertion(assertion))
        return try await goOn { _ in try await step.perform(answer) }
    }

    /// Makes a credential for a factor that is being activated.
    mutating func register(
        _ activating: OktaActivating,
        _ enrolled: OktaFactor,
        _ factor: Factor
    ) async throws -> SignInStep<OktaSession> {
        guard let step = activating.activate, let options = enrolled.activation,
            var request = WebAuthn.RegistrationRequest(
                options: options,
                relyingPartyID: api.org.domain,
                origin: api.org.origin.description,
                // Okta writes the handle as base64url, as its own pages read it; another text stands for itself.
                userID: { Base64.decode($0.utf8) ?? Array($0.utf8) }
            )
        else { throw missing("activate") }
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: factor, hint: options["challenge"]?.string))
        }
        if request.user.name.isEmpty { request.user.name = identifier }
        let attestation = try await ceremony { [request] in try await authenticator.register(request, on: $0) }
        return try await goOn { _ in try await step.perform(.attestation(attestation)) }
    }

    /// Submits what the responder brings: the word `unsupported`, or the fields of a ceremony as a JSON object.
    mutating func submit(webAuthn text: Secret, of challenge: Challenge) async throws -> SignInStep<OktaSession> {
        guard let answer = OktaFactorAnswer(json: text) else { throw failure(.factorUnavailable, [.switchFactor]) }
        return try await submit(answer, of: challenge)
    }

    /// Runs a ceremony; what goes wrong there makes the factor one that cannot be used now.
    private func ceremony<Credential>(_ body: (TimeSource) async throws -> Credential) async throws -> Credential {
        do {
            return try await body(api.client.runtime.time)
        } catch let error as WebAuthn.Failure {
            var refusal = failure(.factorUnavailable, [.switchFactor])
            refusal.cause = error
            throw refusal
        }
    }
}
