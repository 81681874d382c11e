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
        guard let step = challenge.verify, let text = verified.challenge?["challenge"]?.string,
            let bytes = Base64.decode(text.utf8)
        else { throw missing("verify") }
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: factor, hint: text))
        }
        let known = challenge.transaction.factors.isEmpty ? [verified] : challenge.transaction.factors
        let request = WebAuthnSigningRequest(
            challenge: bytes,
            relyingPartyID: api.org.domain,
            origin: api.org.origin.description,
            allowedCredentials: known.compactMap { $0.credentialID.flatMap { Base64.decode($0.utf8) } },
            userVerification: Self.requirement(verified.challenge?["userVerification"])
        )
        let assertion = try await ceremony(request.timeout) { try await authenticator.sign(request) }
        return try await goOn { _ in try await step.perform(.assertion(assertion)) }
    }

    /// Makes a credential for a factor that is being activated.
    mutating func register(
        _ activating: OktaActivating,
        _ enrolled: OktaFactor,
        _ factor: Factor
    ) async throws -> SignInStep<OktaSession> {
        guard let step = activating.activate, let activation = enrolled.activation,
            let text = activation["challenge"]?.string, let bytes = Base64.decode(text.utf8)
        else { throw missing("activate") }
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: factor, hint: text))
        }
        let user = activation["user"]
        let id = user?["id"]?.string ?? ""
        let selection = activation["authenticatorSelection"]
        let request = WebAuthnRegistrationRequest(
            challenge: bytes,
            relyingPartyID: activation["rp"]?["id"]?.string ?? api.org.domain,
            relyingPartyName: activation["rp"]?["name"]?.string ?? "",
            origin: api.org.origin.description,
            user: WebAuthnRegistrationRequest.User(
                // Okta writes the id as text; its bytes are the handle.
                id: Array(id.utf8.prefix(64)),
                name: user?["name"]?.string ?? identifier,
                displayName: user?["displayName"]?.string ?? ""
            ),
            algorithms: (activation["pubKeyCredParams"]?.array ?? []).prefix(32)
                .compactMap { $0["alg"]?.number.map { Int(clamping: $0.saturatedInt) } },
            excludedCredentials: (activation["excludeCredentials"]?.array ?? []).prefix(64)
                .compactMap { $0["id"]?.string.flatMap { Base64.decode($0.utf8) } },
            userVerification: Self.requirement(selection?["userVerification"]),
            attachment: selection?["authenticatorAttachment"]?.string,
            attestation: activation["attestation"]?.string ?? "none"
        )
        let attestation = try await ceremony(request.timeout) { try await authenticator.register(request) }
        return try await goOn { _ in try await step.perform(.attestation(attestation)) }
    }

    /// Submits what the responder brings: the word `unsupported`, or the fields of a ceremony as a JSON object.
    mutating func submit(webAuthn text: Secret, of challenge: Challenge) async throws -> SignInStep<OktaSession> {
        guard let answer = OktaFactorAnswer(json: text) else { throw failure(.factorUnavailable, [.switchFactor]) }
        return try await submit(answer, of: challenge)
    }

    private static func requirement(_ json: JSONValue?) -> WebAuthnRegistrationRequest.Requirement {
        json?.string.flatMap { WebAuthnRegistrationRequest.Requirement(rawValue: $0) } ?? .preferred
    }

    /// Runs a ceremony within its time; what goes wrong there makes the factor one that cannot be used now.
    private func ceremony<Result: Sendable>(
        _ timeout: Duration,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let time = api.client.runtime.time
        do {
            return try await time.withTimeout(until: time.now.advanced(by: timeout), body)
        } catch {
            try Task.checkCancellation()
            var refusal = failure(.factorUnavailable, [.switchFactor])
            refusal.cause = error
            throw refusal
        }
    }
}
